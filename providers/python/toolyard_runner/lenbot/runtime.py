"""One loaded plugin: its life, its tools, and the way of a call through it."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..dialect import Host, LoadError
from . import entry as entries
from . import loader, settings, source
from .context import Invocation, PluginContext
from .declaration import Mark, declared
from .encoding import check
from .entry import InvalidArguments, ToolEntry
from .messages import ChatMessage
from .options import Options
from .redaction import Redactor
from .schema import SOURCE_PARAMETER, open_models
from .storage import Storage

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_ERRORS = 20
# Stands for a scene of which nothing is known.
_SOME_SCENE = "onebot:group:0"


class Interrupted(RuntimeError):
    """The plugin ended while the call was running."""


class UnknownTool(LookupError):
    """The plugin has no such tool."""


class Runtime:
    """A plugin and everything that it owns."""

    def __init__(
        self, path: Path, data_dir: Path, options: Options, host: Host, *, now: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self.data_dir = data_dir
        self.options = options
        self.host = host
        self.now = now
        self.redactor = Redactor([])
        self.config: Mapping[str, Any] = MappingProxyType({})
        self.configure(options.config)
        self.tools: dict[str, ToolEntry] = {}
        self.entries: list[tuple[str, Mark]] = []
        self.components: list[dict[str, str]] = []
        self.warnings: list[str] = []
        self.errors: deque[dict[str, Any]] = deque(maxlen=_ERRORS)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.is_running = False
        self.guide: str | None = None
        self.instance: Any = None
        self.context: PluginContext | None = None
        self.storage: Storage
        self._calls: set[asyncio.Task[Any]] = set()

    def configure(self, given: dict[str, Any]) -> None:
        """Takes other values. Raises LoadError and keeps the old ones when they do not fit."""
        declarations = self.options.manifest.get("config") or {}
        values = settings.read(declarations, given)
        self.redactor = Redactor(settings.secrets(declarations, values))
        self.config = MappingProxyType(values)

    def note_data_version(self, version: int | None) -> None:
        """Says of which version the data on disk are, where the plugin has not run on them yet."""
        if version is not None:
            storage = Storage(self.data_dir)
            storage.set_data_version(version)
            storage.close()

    async def start(self, module_name: str) -> None:
        """Loads and starts the plugin. Raises LoadError and gives back what was taken."""
        self.guide = loader.guide(self.path, (self.options.manifest.get("model") or {}).get("instructions"))
        cls = loader.plugin_class(self.path, module_name)
        self._read_declarations(cls)
        self.storage = Storage(self.data_dir)
        try:
            self.context = PluginContext(self)
            self.instance = await self._stage("create", self._create(cls))
            await self._stage("migrate", self._migrate())
            self.is_running = True
            await self._stage("start", asyncio.wait_for(self.instance.start(), START_SECONDS))
        except BaseException:
            await self.stop(is_started=False)
            raise

    async def stop(self, *, is_started: bool = True) -> None:
        """Ends calls and tasks, then lets the plugin give back what it holds."""
        self.is_running = False
        owned = [*self._calls, *self.tasks]
        for task in owned:
            task.cancel()
        try:
            if owned:
                await asyncio.wait(owned, timeout=STOP_SECONDS)
            if is_started:
                await asyncio.wait_for(_contained(self.instance.stop()), STOP_SECONDS)
        finally:
            self.storage.close()

    async def call(self, tool: str, arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        """Runs one call in the order that the interface promises. Raises what the plugin or a check raises."""
        entry = self.tools.get(tool)
        if entry is None:
            raise UnknownTool(f"插件 {self.options.name} 没有工具 {tool}")
        scene = str(context.get("scene") or "")
        self._admit(tool, scene)
        values = entry.arguments(arguments)
        message = None
        if entry.mark.needs_source:
            ident = context.get(SOURCE_PARAMETER)
            if not isinstance(ident, str) or not ident:
                raise InvalidArguments(f"{SOURCE_PARAMETER}: 必须是非空文本")
            message = await source.resolve(self.options, self.host, scene, ident, context)
        return self.redactor.value(check(await self._run(entry, scene, message, values)))

    def unavailable(self, scene: str) -> dict[str, str]:
        """Tools that cannot be used in the scene, with the reasons; all of them when the plugin cannot say."""
        try:
            named = self.instance.unavailable_tools(scene)
            if not isinstance(named, Mapping):
                if inspect.iscoroutine(named):
                    named.close()
                raise TypeError("unavailable_tools 必须是同步方法，返回工具名到原因的字典")
        except Exception as error:
            reason = f"unavailable_tools 失败：{self.report_error('unavailable_tools', error)}"
            return dict.fromkeys(self.tools, reason)
        return {str(name): self.redactor.text(str(reason)) for name, reason in named.items() if name in self.tools}

    def availability(self) -> dict[str, Any]:
        """Reasons by tool, for each configured scene and for all others."""
        scenes = self.options.scenes or ()
        return {
            "default": self.unavailable(_SOME_SCENE),
            "scenes": {scene: self.unavailable(scene) for scene in scenes},
        }

    def start_task(self, name: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs work that the plugin owns; its failure is reported."""

        async def reported() -> Any:
            try:
                return await _contained(work)
            except Exception as error:
                self.report_error(name, error)
                return None

        task = asyncio.get_running_loop().create_task(reported(), name=f"{self.options.name}:{name}")
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def report_error(self, where: str, error: BaseException) -> str:
        """Notes an error among the last ones and in the log; gives its text."""
        text = self.redactor.text(f"{type(error).__name__}: {error}")
        self.errors.append({"at": self.now(), "where": where, "error": text})
        self.host.log("error", f"{where}：{text}", f"lenbot.{self.options.name}")
        return text

    def declare(self, kind: str, name: str, description: str) -> None:
        """Notes a component that is accepted and does not run here."""
        self.components.append({"kind": kind, "name": name, "description": description})

    def _read_declarations(self, cls: type) -> None:
        self.entries = declared(cls)
        for method, mark in self.entries:
            if mark.kind != "tool":
                self.declare(mark.kind, mark.name, mark.description)
                continue
            if mark.name in self.tools:
                raise LoadError("tools", f"工具名 {mark.name} 与核心工具或其他插件工具重复")
            entry = entries.make(method, mark, getattr(cls, method))
            self.tools[mark.name] = entry
            self.warnings.extend(
                f"工具 {mark.name}：参数模型 {model} 接受未声明的字段，建议设置 extra='forbid'"
                for model in open_models(entry.schema)
            )

    async def _create(self, cls: Callable[[PluginContext | None], Any]) -> Any:
        return cls(self.context)

    async def _migrate(self) -> None:
        wanted = self.options.manifest.get("data_version", 1)
        present = self.storage.data_version()
        if present is not None and present > wanted:
            raise LoadError("migrate", f"已有数据的版本 {present} 高于插件的 {wanted}")
        if present is not None and present < wanted:
            await self.instance.migrate_data(present)
        self.storage.set_data_version(wanted)

    async def _stage(self, stage: str, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await _contained(work)
        except LoadError:
            raise
        except (asyncio.TimeoutError, TimeoutError) as error:
            text = f"{stage} 超过 {START_SECONDS:g} 秒" if stage == "start" else str(error)
            raise LoadError(stage, self.redactor.text(text)) from None
        except Exception as error:
            raise LoadError(stage, self.redactor.text(f"{type(error).__name__}: {error}")) from error

    def _admit(self, tool: str, scene: str) -> None:
        name = self.options.name
        if not self.options.is_enabled_in(scene):
            raise PermissionError(f"插件 {name} 未在场景 {scene} 启用")
        if scene in self.options.paused_scenes:
            raise PermissionError(f"场景 {scene} 的聊天已关闭")
        if not self.is_running:
            raise Interrupted(f"插件 {name} 未在运行")
        if reason := self.unavailable(scene).get(tool):
            raise ValueError(reason)

    async def _run(self, entry: ToolEntry, scene: str, message: ChatMessage | None, values: dict[str, Any]) -> Any:
        assert self.context is not None
        handler = getattr(self.instance, entry.method)
        work = _contained(handler(Invocation(self.context, scene, message), **values))
        task = asyncio.get_running_loop().create_task(work, name=f"{self.options.name}:tool:{entry.mark.name}")
        self._calls.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if _is_cancelling():
                raise
            if not self.is_running:
                name = self.options.name
                raise Interrupted(f"插件 {name} 已停止或重载，本次工具调用中断") from None
            raise RuntimeError("工具取消了自己") from None
        finally:
            self._calls.discard(task)


async def _contained(work: Coroutine[Any, Any, Any]) -> Any:
    """A plugin that asks its process to end fails where it stands: asyncio would end with it."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _is_cancelling() -> bool:
    """Whether the current task itself is being cancelled, as against something that it waits for."""
    current = asyncio.current_task()
    return current is not None and hasattr(current, "cancelling") and current.cancelling() > 0
