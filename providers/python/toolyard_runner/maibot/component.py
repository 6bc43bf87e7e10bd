"""The components that a plugin lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolyard_runner.maibot import handler as handlers
from toolyard_runner.maibot import loader
from toolyard_runner.maibot.handler import Handler
from toolyard_runner.maibot.portable import PortableError, portable

_TOOL_KINDS = ("TOOL", "ACTION")
# Where the SDK's decorators keep what the author wrote.
_DECLARATION = "__maibot_component_info__"


@dataclass
class Component:
    """One component: as it is declared, and what is called for it."""

    kind: str
    name: str
    declared: dict[str, Any]
    handler: Handler | None

    @property
    def metadata(self) -> dict[str, Any]:
        return self.declared["metadata"]

    @property
    def is_old_action(self) -> bool:
        return self.kind == "ACTION" or bool(self.metadata.get("legacy_action"))

    def document(self) -> dict[str, Any]:
        if self.handler is not None and self.kind in _TOOL_KINDS:
            return {**self.declared, "handler": self.handler.summary()}
        return {**self.declared, "handler": {"name": None if self.handler is None else self.handler.name, "any": True}}


class Components:
    """All components of a plugin. Of two with one name the later counts."""

    def __init__(self, listed: Iterable[Component]) -> None:
        self.all = list(listed)
        self._tools = {component.name: component for component in self.all if component.kind in _TOOL_KINDS}
        self._apis = [component for component in self.all if component.kind == "API"]

    def tool(self, name: str) -> Component | None:
        return self._tools.get(name)

    def api(self, name: str, version: str) -> Component | None:
        """The API of this version; without one, the last that is declared."""
        matching = [component for component in self._apis if component.name == name]
        if version:
            matching = [component for component in matching if str(component.metadata.get("version", "1")) == version]
        return matching[-1] if matching else None

    def document(self) -> list[dict[str, Any]]:
        return [component.document() for component in self.all]


def listed(plugin: Any, dynamic_apis: list[dict[str, Any]] | None) -> Components:
    """What `get_components()` gives, with the dynamic APIs that the plugin last told the host of, if it did."""
    records = list(plugin.get_components())
    if dynamic_apis is not None:
        records = [record for record in records if not _is_dynamic_api(record)] + dynamic_apis
    return Components(read(plugin, record) for record in records if isinstance(record, Mapping))


def read(plugin: Any, record: Mapping[str, Any]) -> Component:
    """One record. What cannot be sent costs only this component."""
    kind = str(getattr(record.get("type"), "value", record.get("type")) or "").strip().upper()
    name = str(record.get("name") or "")
    raw = record.get("metadata")
    metadata = dict(raw) if isinstance(raw, Mapping) else {}
    handler = handlers.find(plugin, kind, name, metadata) if kind in (*_TOOL_KINDS, "API") else None
    if handler is not None and _is_switched_off(handler):
        metadata["enabled"] = False
    if metadata.get("legacy"):
        _mend_old_types(metadata)
    declared: dict[str, Any] = {"name": name, "type": kind, "metadata": {}}
    try:
        declared = {**portable(record), "name": name, "type": kind, "metadata": portable(metadata, "metadata")}
    except PortableError as error:
        declared["fault"] = f"its declaration cannot be sent: {error}"
    return Component(kind, name, declared, handler)


def is_dynamic(plugin: Any) -> bool:
    """Whether the plugin makes its own list, which may change at any time."""
    from maibot_sdk import MaiBotPlugin

    own = getattr(plugin.get_components, "__func__", None)
    return own is not MaiBotPlugin.get_components and not loader.is_legacy(plugin)


def _is_dynamic_api(record: Any) -> bool:
    if not isinstance(record, Mapping):
        return False
    metadata = record.get("metadata")
    return str(record.get("type")).upper() == "API" and isinstance(metadata, Mapping) and bool(metadata.get("dynamic"))


def _is_switched_off(handler: Handler) -> bool:
    """Whether the author wrote `enabled=False`, which the SDK overrides in what it lists."""
    declaration = getattr(handler.function, _DECLARATION, None)
    extras = getattr(declaration, "metadata", None)
    return isinstance(extras, Mapping) and extras.get("enabled") is False


def _mend_old_types(metadata: dict[str, Any]) -> None:
    """Old plugins name types by an enumeration: `ToolParamType.STRING`."""
    parameters = metadata.get("parameters")
    if not isinstance(parameters, list):
        return
    metadata["parameters"] = [
        {**entry, "type": str(entry["type"]).rsplit(".", 1)[-1].lower()}
        if isinstance(entry, Mapping) and "type" in entry
        else entry
        for entry in parameters
    ]
