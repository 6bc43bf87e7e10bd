"""What a handler is given, and how what it returns is told to the host."""

from __future__ import annotations

from typing import Any

from toolyard_runner.maibot.component import Component
from toolyard_runner.maibot.handler import Handler


def keywords(
    component: Component, handler: Handler, arguments: dict[str, Any], added: dict[str, Any]
) -> dict[str, Any]:
    """The model's arguments, with the host's where they are missing or empty and the handler can take them."""
    result = dict(arguments)
    extra = {name: value for name, value in added.items() if not result.get(name)}
    if component.is_old_action:
        extra.update(_of_old_action(arguments, added))
    if component.metadata.get("legacy"):
        extra.update(_of_old_plugin(arguments, added))
    result.update((name, value) for name, value in extra.items() if handler.takes(name))
    return result


def report(value: Any) -> dict[str, Any]:
    """A returned value with Python's text of it, which JSON alone does not give back."""
    if isinstance(value, (dict, str)):
        return {"value": value}
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], bool):
        said = value[1] if len(value) > 1 else None
    else:
        said = value
    return {"value": value, "text": "" if said is None else str(said)}


def _of_old_action(arguments: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Old actions get these whatever the model says."""
    stream = added.get("stream_id", "")
    return {
        "stream_id": stream,
        "chat_id": added.get("chat_id", stream),
        "reasoning": added.get("reasoning", ""),
        "action_data": dict(arguments),
    }


def _of_old_plugin(arguments: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """The SDK's adapter for old plugins reads these."""
    return {
        "function_args": dict(arguments),
        "action_reasoning": added.get("reasoning", ""),
        "action_message": added.get("message"),
    }
