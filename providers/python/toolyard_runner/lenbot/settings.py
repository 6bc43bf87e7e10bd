"""A plugin's configuration: what plugin.toml declares, and the values that are given."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from ..dialect import LoadError

SCENE = re.compile(r"[a-z][a-z0-9_-]*:(group|private):[^:\s/\\]+")

Declarations = dict[str, dict[str, Any]]


def read(declared: Declarations, given: dict[str, Any]) -> dict[str, Any]:
    """The values with their defaults. Raises LoadError that names every key that is wrong."""
    values, missing, problems = _values(declared, given, "")
    if missing:
        problems.insert(0, f"缺少必填配置：{'、'.join(missing)}")
    if problems:
        raise LoadError("config", "；".join(problems))
    return values


def secrets(declared: Declarations, values: dict[str, Any]) -> list[str]:
    """The values of all secrets."""
    found = []
    for key, declaration in declared.items():
        value = values.get(key)
        if declaration["type"] == "secret" and isinstance(value, str):
            found.append(value)
        elif declaration["type"] == "object_list" and isinstance(value, list):
            for entry in value:
                found.extend(secrets(declaration.get("fields", {}), entry))
    return found


def _values(declared: Declarations, given: dict[str, Any], place: str) -> tuple[dict[str, Any], list[str], list[str]]:
    values, missing, problems = {}, [], []
    problems.extend(f"未知配置：{place}{key}" for key in given if key not in declared)
    for key, declaration in declared.items():
        path = f"{place}{key}"
        if key in given:
            value = given[key]
        elif "default" in declaration:
            value = declaration["default"]
        else:
            missing.append(path)
            continue
        if declaration["type"] == "object_list":
            value = _objects(declaration.get("fields", {}), value, path, missing, problems)
        elif problem := _problem(declaration, value):
            # The value itself is not shown: it may be a secret.
            problems.append(f"配置 {path} {problem}")
        values[key] = value
    return values, missing, problems


def _objects(fields: Declarations, value: Any, path: str, missing: list[str], problems: list[str]) -> Any:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        problems.append(f"配置 {path} 必须是表的列表")
        return value
    read_entries = []
    for index, entry in enumerate(value):
        inner, absent, wrong = _values(fields, entry, f"{path}[{index}].")
        missing.extend(absent)
        problems.extend(wrong)
        read_entries.append(inner)
    return read_entries


def _problem(declaration: dict[str, Any], value: Any) -> str | None:
    check, wanted = _TYPES[declaration["type"]]
    if not check(value):
        return f"必须是{wanted}"
    minimum, maximum = declaration.get("minimum"), declaration.get("maximum")
    if minimum is not None and value < minimum:
        return f"不能小于 {minimum}"
    if maximum is not None and value > maximum:
        return f"不能大于 {maximum}"
    options = [entry["value"] if isinstance(entry, dict) else entry for entry in declaration.get("options", [])]
    chosen = value if isinstance(value, list) else [value]
    if options and any(entry not in options for entry in chosen):
        return f"必须是其中之一：{'、'.join(map(str, options))}"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def _is_scene(value: Any) -> bool:
    return isinstance(value, str) and (value == "" or SCENE.fullmatch(value) is not None)


def _is_url(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    parts = urlsplit(value)
    return value == "" or bool(parts.scheme and parts.netloc)


def _is_list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(entry) for entry in value)


_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "string": (_is_text, "文本"),
    "secret": (_is_text, "文本"),
    "path": (_is_text, "文本"),
    "integer": (_is_integer, "整数"),
    "number": (_is_number, "有限数"),
    "boolean": (lambda value: isinstance(value, bool), "布尔值"),
    "string_list": (_is_list_of(_is_text), "文本列表"),
    "scene": (_is_scene, "场景"),
    "scene_list": (_is_list_of(_is_scene), "场景列表"),
    "url": (_is_url, "完整地址"),
}
