"""The JSON schema of a tool's arguments, as the model sees it."""

from __future__ import annotations

from typing import Any

SOURCE_PARAMETER = "source_message_id"
_SOURCE_DESCRIPTION = "真正提出这项请求的消息的 ID：从本轮收到的消息中选出，不能是你自己发的消息。"

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLES = (
    "items",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)


def without_titles(schema: Any) -> Any:
    """The schema without the titles that were made of names; properties that are called `title` stay."""
    if isinstance(schema, list):
        return [without_titles(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    stripped = {}
    for key, value in schema.items():
        if key == "title":
            continue
        if key in _MAPS and isinstance(value, dict):
            value = {name: without_titles(entry) for name, entry in value.items()}
        elif key in _LISTS or key in _SINGLES:
            value = without_titles(value)
        stripped[key] = value
    return stripped


def with_source(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the parameter that the host reads itself."""
    parameter = {"type": "string", "minLength": 1, "description": _SOURCE_DESCRIPTION}
    properties = {**schema.get("properties", {}), SOURCE_PARAMETER: parameter}
    return {**schema, "properties": properties, "required": [*schema.get("required", []), SOURCE_PARAMETER]}


def open_models(schema: dict[str, Any]) -> list[str]:
    """Names of nested models that let unknown fields through."""
    defined = schema.get("$defs", {})
    return [
        name
        for name, entry in defined.items()
        if "properties" in entry and entry.get("additionalProperties", True) is not False
    ]
