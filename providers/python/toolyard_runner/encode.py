"""From what a handler returned to JSON."""

from __future__ import annotations

import base64
import datetime
import enum
import json
import math
from collections.abc import Mapping
from typing import Any

_DEEP = 200


class NotJson(Exception):
    """The value has no form in JSON; says where."""


def to_json(value: Any) -> str:
    """The value as JSON text. Tuples become lists, dates ISO text, Enum members their values, bytes base64."""
    try:
        return _encoder(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise NotJson(_why(value, "", 0) or f"the value cannot be written as JSON: {error}") from None


def to_bytes(text: str) -> bytes:
    """UTF-8. Halves of characters, which no text can hold, become U+FFFD; halves that belong together one character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _default(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_default).encode


def _why(value: Any, place: str, depth: int) -> str | None:
    """The first thing that cannot be written, and where it stands."""
    where = f" at {place}" if place else ""
    if depth > _DEEP:
        return f"the value is nested too deep{where}"
    if value is None or isinstance(value, (bool, str, int)):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"JSON has no {value!r}{where}"
    if isinstance(value, Mapping):
        for key, entry in value.items():
            if not isinstance(key, (str, int, float, bool)) and key is not None:
                return f"a key{where} is a {type(key).__name__}, not text"
            if found := _why(entry, f"{place}/{key}", depth + 1):
                return found
        return None
    if isinstance(value, (list, tuple)):
        found = (_why(entry, f"{place}/{index}", depth + 1) for index, entry in enumerate(value))
        return next((reason for reason in found if reason), None)
    try:
        _default(value)
    except TypeError as error:
        return f"{error}{where}"
    return None
