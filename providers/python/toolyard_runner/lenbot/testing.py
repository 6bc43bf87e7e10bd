"""Tests of plugins without a bot: a real load, start and stop on a copy of the package, with simulated sends."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..dialect import LoadError
from . import loader, manifest, settings
from .context import Invocation
from .messages import ChatMessage, Delivery
from .options import Options
from .runtime import Runtime
from .schema import SOURCE_PARAMETER, with_source
from .simulated import BOT_ID, SimulatedHost

SCENE = "onebot:group:80001"
_numbers = itertools.count(1)


class PluginTest:
    """`async with PluginTest(folder) as bot`. A plugin that does not load raises RuntimeError, a configuration that
    does not fit raises ValueError at once."""

    def __init__(
        self,
        package: str | Path,
        *,
        config: dict[str, Any] | None = None,
        scenes: Iterable[str] = (SCENE,),
        owners: Iterable[str] = (),
        now: Callable[[], float] | None = None,
        models: Callable[..., Any] | None = None,
        data: str | Path | None = None,
        data_version: int | None = None,
    ) -> None:
        self.package = Path(package)
        self.manifest = manifest.read(self.package)
        self.scenes = tuple(scenes)
        self.host = SimulatedHost(now, models)
        self._data = data
        self._data_version = data_version
        self._options = Options(
            manifest=self.manifest,
            config=config or {},
            scenes=self.scenes,
            owners=frozenset(owners),
            source_scope="scene",
            bot_id=BOT_ID,
        )
        try:
            settings.read(self.manifest.get("config") or {}, self._options.config)
        except LoadError as error:
            raise ValueError(error.message) from None

    async def __aenter__(self) -> PluginTest:
        self._folder = tempfile.TemporaryDirectory(prefix="lenbot-test-")
        name = self.manifest["name"]
        self._module = f"lenbot_test_{next(_numbers)}_{name}"
        root = Path(self._folder.name)
        ignored = shutil.ignore_patterns("__pycache__", ".git")
        shutil.copytree(self.package, root / name, ignore=ignored)
        if self._data is not None:
            shutil.copytree(self._data, root / "data")
        self.runtime = Runtime(root / name, root / "data", self._options, self.host, now=self.host.now)
        self.host.plugins[name] = self.runtime
        self.host._plugin = name
        try:
            self.runtime.note_data_version(self._data_version)
            await self.runtime.start(self._module)
        except LoadError as error:
            self._folder.cleanup()
            raise RuntimeError(f"插件 {name} 加载失败（{error.stage}）：{error.message}") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.runtime.stop()
        finally:
            loader.forget(self._module)
            self._folder.cleanup()

    @property
    def deliveries(self) -> list[Delivery]:
        """What the plugin has sent, in order."""
        return self.host.deliveries

    def events(self) -> list[dict[str, Any]]:
        """The events that the plugin has raised."""
        return self.host.events

    def state(self) -> dict[str, Any]:
        """How the plugin stands."""
        status = "running" if self.runtime.is_running else "stopped"
        listed = {"name": self.manifest["name"], "status": status, "errors": list(self.runtime.errors)}
        return {"plugins": [{**listed, "components": self.runtime.components}]}

    def add_message(
        self,
        text: str,
        *,
        scene: str | None = None,
        sender: str = "onebot:70001",
        message_id: str | None = None,
        timestamp: float | None = None,
    ) -> ChatMessage:
        """Adds a message to the scene's history."""
        return self.host.add(text, scene or self.scenes[0], sender, message_id, timestamp)

    async def message(self, text: str, *, scene: str | None = None, sender: str = "onebot:70001") -> bool:
        """Receives a message and runs the commands and rules that it calls; says whether there were any."""
        received = self.add_message(text, scene=scene, sender=sender)
        handled = False
        assert self.runtime.context is not None
        for method, mark in self.runtime.entries:
            arguments = _matched(mark.kind, mark.name, text)
            if arguments is not None:
                context = Invocation(self.runtime.context, received.scene, received)
                await getattr(self.runtime.instance, method)(context, *arguments)
                handled = True
        return handled

    async def tool(self, name: str, arguments: dict[str, Any], *, scene: str | None = None) -> str:
        """Calls a tool; gives the text that the model would see."""
        given = dict(arguments)
        context: dict[str, Any] = {"scene": scene or self.scenes[0]}
        entry = self.runtime.tools.get(name)
        if entry is not None and entry.mark.needs_source and SOURCE_PARAMETER in given:
            context[SOURCE_PARAMETER] = given.pop(SOURCE_PARAMETER)
        value = await self.runtime.call(name, given, context)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)

    def preview_tools(self) -> list[dict[str, Any]]:
        """The tools as the model would see them, and why some cannot be used."""
        return preview(self.runtime)

    async def wait_tasks(self, name: str | None = None) -> None:
        """Waits until the plugin's background work, or the part of this name, has ended."""
        wanted = None if name is None else f"{self.manifest['name']}:{name}"
        while tasks := [task for task in self.runtime.tasks if wanted is None or task.get_name() == wanted]:
            await asyncio.wait(tasks)


def preview(runtime: Runtime) -> list[dict[str, Any]]:
    """Each tool with its texts, parameters, instructions, scenes, and the reasons against it."""
    by_scene = runtime.availability()
    listed = []
    for name, entry in runtime.tools.items():
        maps = [*by_scene["scenes"].values()] or [by_scene["default"]]
        reasons = list(dict.fromkeys(reasons[name] for reasons in maps if name in reasons))
        if not runtime.is_running:
            reasons.insert(0, "插件未在运行")
        described = entry.describe()
        parameters = described["parameters"]
        listed.append(
            {
                "name": name,
                "summary": described["summary"] or described["description"],
                "source": f"插件 {runtime.options.name}",
                "description": described["description"],
                "parameters": with_source(parameters) if entry.mark.needs_source else parameters,
                "instructions": runtime.guide,
                "scenes": None if runtime.options.scenes is None else list(runtime.options.scenes),
                "needs_source": entry.mark.needs_source,
                "reasons": reasons,
            }
        )
    return listed


def _matched(kind: str, name: str, text: str) -> list[Any] | None:
    """The arguments of a handler that the text calls."""
    if kind == "command" and (text == f"/{name}" or text.startswith(f"/{name} ")):
        return [text[len(name) + 1 :].strip()]
    if kind == "fullmatch" and text == name:
        return []
    if kind == "regex" and (found := re.search(name, text)):
        return [found]
    return None
