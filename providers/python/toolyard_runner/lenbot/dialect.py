"""LenBot's plugins towards the core."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from ..dialect import CallError, Dialect, Host, LoadError, Plugin
from .entry import InvalidArguments
from .options import Options
from .redaction import LogFilter
from .runtime import Interrupted, Runtime, UnknownTool
from .source import NoRealRequest, SenderBarred


class LenBotDialect(Dialect):
    """One LenBot plugin."""

    def __init__(self, plugin: Plugin, host: Host) -> None:
        super().__init__(plugin, host)
        self._runtime: Runtime | None = None
        self._log_filter = LogFilter()

    async def load(self) -> dict[str, Any]:
        """See `Dialect`."""
        runtime = Runtime(self.plugin.path, self.plugin.data_dir, Options.read(self.plugin.options), self.host)
        self._log_filter.redactor = runtime.redactor
        for handler in logging.getLogger().handlers:
            handler.addFilter(self._log_filter)
        try:
            await runtime.start(f"lenbot_plugin_{runtime.options.name}")
        except LoadError as error:
            redact = runtime.redactor.text
            raise LoadError(error.stage, redact(error.message), redact(error.detail or _trace(error))) from None
        self._runtime = runtime
        return self._document(runtime)

    async def call(self, tool: str, arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        """See `Dialect`. Errors carry their type's name, as the model is to see it, and no secret."""
        runtime = self._loaded()
        try:
            return await runtime.call(tool, arguments, context)
        except InvalidArguments as error:
            raise CallError("arguments", runtime.redactor.text(f"ValidationError: {error}")) from None
        except (NoRealRequest, SenderBarred) as error:
            raise CallError("source_message", runtime.redactor.text(str(error))) from None
        except UnknownTool as error:
            raise CallError("unknown_tool", str(error)) from None
        except Interrupted as error:
            raise CallError("unloading", str(error)) from None
        except Exception as error:
            text = runtime.report_error(f"工具 {tool}", error)
            raise CallError("exception", text, runtime.redactor.text(_trace(error))) from None

    async def configure(self, scope: str, config: dict[str, Any] | None, version: str) -> None:
        """Takes new values of the plugin's own configuration, and says again which tools they rule out."""
        if scope != "self":
            return
        runtime = self._loaded()
        if config is not None:
            try:
                runtime.configure(config)
            except LoadError as error:
                raise ValueError(error.message) from None
            self._log_filter.redactor = runtime.redactor
        self.host.changed(self._document(runtime))

    async def unload(self) -> None:
        """See `Dialect`."""
        if self._runtime is not None:
            await self._runtime.stop()

    def _loaded(self) -> Runtime:
        if self._runtime is None:
            raise CallError("unloading", "插件尚未加载")
        return self._runtime

    def _document(self, runtime: Runtime) -> dict[str, Any]:
        manifest = runtime.options.manifest
        return {
            "id": manifest["name"],
            "version": manifest["version"],
            "tools": [entry.describe() for entry in runtime.tools.values()],
            "components": runtime.components,
            "warnings": runtime.warnings,
            "instructions": runtime.guide,
            "unavailable": runtime.availability(),
        }


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
