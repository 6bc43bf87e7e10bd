"""Reads plugin.toml for tests. Toolyard itself reads and checks it on its own side and hands it over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_REQUIRED = (
    "name",
    "version",
    "interface",
    "requires_lenbot",
    "requires_python",
    "platforms",
    "reload",
    "authors",
    "license",
    "description",
)


def read(path: Path) -> dict[str, Any]:
    """The manifest of the package in this folder. Raises ValueError."""
    import tomllib

    with open(path / "plugin.toml", "rb") as file:
        manifest = tomllib.load(file)
    missing = [key for key in _REQUIRED if key not in manifest]
    if missing:
        raise ValueError(f"plugin.toml 缺少：{'、'.join(missing)}")
    if manifest["interface"] != 1:
        raise ValueError(f"plugin.toml 的 interface 必须是 1，现在是 {manifest['interface']}")
    return manifest
