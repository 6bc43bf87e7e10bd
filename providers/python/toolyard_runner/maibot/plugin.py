"""One MaiBot plugin: its life from the import to the end, and its calls."""

from __future__ import annotations

import inspect
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from toolyard_runner.dialect import CallError, Dialect, Host, LoadError, Plugin
from toolyard_runner.maibot import call as calls
from toolyard_runner.maibot import component as components
from toolyard_runner.maibot import config as configs
from toolyard_runner.maibot import handler as handlers
from toolyard_runner.maibot import loader, packages
from toolyard_runner.maibot.bridge import Bridge
from toolyard_runner.maibot.component import Components
from toolyard_runner.maibot.failure import load_error, named
from toolyard_runner.maibot.portable import PortableError, portable

MAX_THREADS = 32
# Plugins that make their own list are asked for it after a call, this often at most.
RELIST_SECONDS = 1.0


class MaiBotDialect(Dialect):
    """The plugin in this process."""

    def __init__(self, plugin: Plugin, host: Host) -> None:
        super().__init__(plugin, host)
        self._folder = plugin.path
        self._data_dir = plugin.data_dir
        self._options = plugin.options
        self._host = host
        self._id = str(plugin.options.get("id", ""))
        self._file = configs.ConfigFile(plugin.path)
        self._config: dict[str, Any] = {}
        self._instance: Any = None
        self._components = Components([])
        self._dynamic_apis: list[dict[str, Any]] | None = None
        self._subscriptions: list[str] = []
        self._warnings: list[str] = []
        self._facts: dict[str, Any] = {}
        self._inactive: str | None = None
        self._is_loaded = False
        self._listed_at = 0.0
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="handler")

    async def load(self) -> dict[str, Any]:
        self._facts["sdk_version"] = loader.check_sdk()
        absent = packages.missing(packages.read(self._options.get("packages")))
        if absent:
            names = ", ".join(package.requirement for package in absent)
            self._warnings.append(f"not installed: {names}; {packages.install_command(absent)}")
        module = loader.import_plugin(self._folder, self._id, absent)
        self._instance = await loader.create(module)
        self._subscribe()
        self._inject_context()
        self._read_config()
        self._describe()
        self._inactive = configs.inactive_reason(self._config)
        if self._inactive is None:
            await self._activate()
        self._is_loaded = True
        return self._document()

    async def call(self, tool: str, arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        is_api = str(context.get("component_type", "")).upper() == "API"
        component = (
            self._components.api(tool, str(context.get("version") or "")) if is_api else self._components.tool(tool)
        )
        if component is None or self._inactive is not None:
            raise CallError("unknown_tool", f"the plugin has no {'API' if is_api else 'tool'} `{tool}`")
        if component.handler is None:
            raise CallError("unknown_tool", f"the plugin has no handler for `{tool}`")
        added = {} if is_api else dict(context.get("added") or {})
        keywords = calls.keywords(component, component.handler, arguments, added)
        try:
            value = await handlers.run(component.handler, keywords, self._pool)
        except (SystemExit, KeyboardInterrupt) as error:
            raise CallError("exception", f"the handler tried to end its process: {named(error)}") from error
        finally:
            self._relist_after_call()
        return value if is_api else calls.report(value)

    async def configure(self, scope: str, config: dict[str, Any] | None, version: str) -> None:
        if scope == "self":
            await self._configure_self(config, version)
        elif scope not in ("bot", "model"):
            raise ValueError(f"`{scope}` is no scope of configuration; there are self, bot and model")
        elif scope in self._subscriptions and self._inactive is None:
            await _finished(self._instance.on_config_update(scope, config or {}, version))
            self._relist()

    async def unload(self) -> None:
        try:
            if self._is_loaded and self._inactive is None:
                await _finished(self._instance.on_unload())
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)

    # === loading ===

    def _subscribe(self) -> None:
        try:
            self._subscriptions = list(self._instance.get_config_reload_subscriptions())
        except Exception as error:
            raise load_error("create", "`config_reload_subscriptions` cannot be read", error) from error

    def _inject_context(self) -> None:
        from maibot_sdk.context import PluginContext, PluginPaths

        paths = PluginPaths(data_dir=self._data_dir, runtime_dir=self._data_dir / ".runtime")
        try:
            for path in (paths.data_dir, paths.runtime_dir):
                path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise load_error("create", "the plugin's folders cannot be made", error) from error
        self._instance._set_context(
            PluginContext(self._id, Bridge(self._host, self._id, self._portable_config, self._apis_replaced), paths)
        )

    def _read_config(self) -> None:
        try:
            self._config = self._file.read(self._instance)
            self._instance.set_plugin_config(self._config)
        except configs.ConfigError as error:
            raise LoadError("config", str(error), "") from error
        except (Exception, SystemExit) as error:
            if isinstance(error, LoadError):
                raise
            raise load_error("config", "the configuration cannot be made", error) from error

    def _describe(self) -> None:
        """What else other parts of the host may ask of a plugin."""
        for fact, method in (
            ("default_config", "get_default_config"),
            ("config_schema", "get_webui_config_schema"),
            ("llm_providers", "get_llm_providers"),
        ):
            describe = getattr(self._instance, method, None)
            if describe is None:
                continue
            try:
                self._facts[fact] = portable(describe(), fact)
            except Exception as error:
                self._warnings.append(f"{method}() cannot be used: {named(error)}")

    async def _activate(self) -> None:
        """Components are listed before `on_load`, as old plugins need it, and again after it, for what it added."""
        self._list("components")
        try:
            await _finished(self._instance.on_load())
        except (Exception, SystemExit) as error:
            raise load_error("on_load", "on_load() failed", error) from error
        if not loader.is_legacy(self._instance):
            self._list("components")

    def _list(self, stage: str) -> None:
        try:
            self._components = components.listed(self._instance, self._dynamic_apis)
        except (Exception, SystemExit) as error:
            raise load_error(stage, "get_components() failed", error) from error
        self._listed_at = time.monotonic()

    def _document(self) -> dict[str, Any]:
        return {
            "id": self._id,
            "version": str(self._options.get("version", "")),
            "legacy": loader.is_legacy(self._instance),
            "inactive": self._inactive,
            "components": [] if self._inactive is not None else self._components.document(),
            "config": self._portable_config(),
            "config_reload_subscriptions": self._subscriptions,
            "warnings": self._warnings + self._file.warnings,
            **self._facts,
        }

    def _portable_config(self) -> Any:
        """What other plugins may be given of the configuration."""
        try:
            return portable(self._config, "config")
        except PortableError:
            return {}

    # === change ===

    async def _configure_self(self, config: dict[str, Any] | None, version: str) -> None:
        before = self._config
        new = self._file.read(self._instance) if config is None else configs.normalise(self._instance, config)
        if new == before:
            return
        was_inactive, self._inactive = self._inactive, configs.inactive_reason(new)
        self._use_config(new)
        try:
            if was_inactive is not None and self._inactive is None:
                await self._activate()
            elif was_inactive is None:
                update = self._instance.on_config_update("self", new, version or configs.version_of(new))
                await _finished(update)
        except BaseException:
            self._inactive = was_inactive
            self._use_config(before)
            raise
        if was_inactive is None and self._inactive is not None:
            await _finished(self._instance.on_unload())
        if was_inactive == self._inactive:
            self._relist()
        # The configuration is part of what the host knows.
        self._tell()

    def _use_config(self, config: dict[str, Any]) -> None:
        self._config = config
        self._instance.set_plugin_config(config)

    def _apis_replaced(self, apis: list[Any]) -> None:
        self._dynamic_apis = [api for api in apis if isinstance(api, dict)]
        self._relist()

    def _relist_after_call(self) -> None:
        is_due = time.monotonic() - self._listed_at >= RELIST_SECONDS
        if is_due and components.is_dynamic(self._instance):
            self._relist()

    def _relist(self) -> None:
        """Tells the host when the components are not what they were. A list that fails leaves the old one in place."""
        if not self._is_loaded or self._inactive is not None or loader.is_legacy(self._instance):
            return
        before = self._components
        try:
            self._list("components")
        except LoadError as error:
            self._listed_at = time.monotonic()
            self._host.log("warning", error.message, "toolyard.maibot")
            return
        if before.document() != self._components.document():
            self._tell()

    def _tell(self) -> None:
        self._host.changed(self._document())


async def _finished(result: Any) -> Any:
    """Plugins may write their lifecycle as plain functions."""
    return await result if inspect.isawaitable(result) else result
