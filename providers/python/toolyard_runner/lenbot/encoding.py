"""What a tool may give back: text, or strict JSON."""

from __future__ import annotations

import math
from typing import Any

_DEEP = 200


def check(value: Any) -> Any:
    """The value itself. Raises ValueError, with the place, for what is neither text nor strict JSON."""
    if not isinstance(value, str) and (problem := _problem(value, "", 0)) is not None:
        raise ValueError(f"工具返回值不是文本或严格的 JSON：{problem}")
    return value


def _problem(value: Any, place: str, depth: int) -> str | None:
    where = place or "/"
    if depth > _DEEP:
        return f"{where} 嵌套过深"
    if value is None or type(value) in (str, bool, int):
        return None
    if type(value) is float:
        return None if math.isfinite(value) else f"{where} 是 {value}"
    if type(value) is list:
        found = (_problem(entry, f"{place}/{index}", depth + 1) for index, entry in enumerate(value))
        return next((problem for problem in found if problem), None)
    if type(value) is dict:
        for key, entry in value.items():
            if type(key) is not str:
                return f"{where} 的键 {key!r} 不是文本"
            if problem := _problem(entry, f"{place}/{key}", depth + 1):
                return problem
        return None
    return f"{where} 是 {type(value).__name__}"
