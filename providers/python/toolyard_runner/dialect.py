"""What differs between kinds of plugins: the contract between the core and a dialect."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


class LoadError(Exception):
    """The plugin cannot be loaded; says at which stage and why."""

    def __init__(self, stage: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message
        self.detail = detail


class CallError(Exception):
    """A call that failed in a way that the dialect knows: "arguments", "source_message", "unknown_tool", "exception"."""

    def __init__(self, kind: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.detail = detail


class CapabilityError(Exception):
    """The host refused a capability request."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code
        self.message = message


@dataclass
class Plugin:
    """Which plugin to load, and how."""

    path: Path
    data_dir: Path
    options: dict[str, Any] = field(default_factory=dict)


class Host(Protocol):
    """What a dialect may ask of the host."""

    async def capability(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """Asks for a capability. Raises CapabilityError. Cancelling the task gives the request up."""

    def capability_now(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """Asks for a capability and blocks the thread until the answer is there; for synchronous plugin interfaces."""

    def log(self, level: str, message: str, logger: str = "") -> None:
        """Hands one line to the host's log, from any thread."""

    def changed(self, plugin: dict[str, Any]) -> None:
        """Tells the host that the plugin's tools are others now."""


class Dialect(abc.ABC):
    """One plugin of one dialect."""

    def __init__(self, plugin: Plugin, host: Host) -> None:
        self.plugin = plugin
        self.host = host

    @abc.abstractmethod
    async def load(self) -> dict[str, Any]:
        """Loads the plugin and describes it. Raises LoadError."""

    @abc.abstractmethod
    async def call(self, tool: str, arguments: dict[str, Any], context: dict[str, Any]) -> Any:
        """Runs one call in a task of its own; the value goes out as JSON. Raises whatever the plugin does."""

    @abc.abstractmethod
    async def configure(self, scope: str, config: dict[str, Any] | None, version: str) -> None:
        """Takes a new configuration; none means that the plugin's own file is to be read again."""

    @abc.abstractmethod
    async def unload(self) -> None:
        """Lets the plugin give back what it holds."""
