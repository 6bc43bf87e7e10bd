"""What of a plugin's declarations can be sent as JSON."""

from __future__ import annotations

import datetime
import enum
import math
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 64


class PortableError(ValueError):
    """JSON has no form for a value; the message says where it stands."""


def portable(value: Any, place: str = "", depth: int = 0) -> Any:
    """The value in JSON's own types."""
    if depth > MAX_DEPTH:
        raise PortableError(f"`{place}` is nested too deep")
    if isinstance(value, enum.Enum):
        return portable(value.value, place, depth + 1)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise PortableError(f"`{place}` is {value}, which JSON cannot hold")
    if isinstance(value, Mapping):
        return {str(key): portable(item, _inside(place, str(key)), depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    raise PortableError(f"`{place}` is of type {type(value).__name__}, which JSON has no form for")


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
