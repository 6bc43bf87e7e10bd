"""Imports a plugin's package and finds its one class."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

from ..dialect import LoadError
from .plugin import Plugin

_API = Path(__file__).parent / "api"
_MAX_GUIDE = 64 << 10


def offer_api() -> None:
    """Makes `len_bot` importable, ahead of anything installed under that name."""
    if str(_API) not in sys.path:
        sys.path.insert(0, str(_API))


def plugin_class(path: Path, module_name: str) -> type[Plugin]:
    """The package's only Plugin subclass. Raises LoadError."""
    offer_api()
    package = _import(path, module_name)
    found = [
        member
        for member in _once(vars(package).values())
        if inspect.isclass(member) and issubclass(member, Plugin) and _belongs(member, module_name)
    ]
    if len(found) != 1:
        raise LoadError("import", f"插件包必须恰好有一个 Plugin 子类，找到 {len(found)} 个")
    return found[0]


def forget(module_name: str) -> None:
    """Takes the package and its modules out of the table of modules."""
    for name in [name for name in sys.modules if name == module_name or name.startswith(f"{module_name}.")]:
        del sys.modules[name]


def guide(path: Path, named: str | None) -> str | None:
    """The text of the shared instructions. Raises LoadError."""
    if named is None:
        return None
    relative = Path(named)
    if relative.is_absolute() or ".." in relative.parts:
        raise LoadError("instructions", f"model.instructions 必须是相对路径，不能含 ..：{named}")
    file = (path / relative).resolve()
    if not file.is_relative_to(path.resolve()):
        raise LoadError("instructions", f"model.instructions 指向插件目录以外：{named}")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError("instructions", f"model.instructions 不能读取：{named}：{error}") from None
    if len(text) > _MAX_GUIDE:
        raise LoadError("instructions", f"model.instructions 有 {len(text)} 个字符，最多 {_MAX_GUIDE}：{named}")
    return text


def _import(path: Path, module_name: str) -> Any:
    entry = path / "__init__.py"
    if not entry.is_file():
        raise LoadError("import", f"插件目录没有 __init__.py：{path}")
    spec = importlib.util.spec_from_file_location(module_name, entry, submodule_search_locations=[str(path)])
    if spec is None or spec.loader is None:
        raise LoadError("import", f"插件目录不能作为 Python 包导入：{path}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = package
    try:
        spec.loader.exec_module(package)
    except BaseException as error:  # noqa: BLE001 - whatever an import raises, SystemExit included, is told
        forget(module_name)
        detail = "".join(traceback.format_exception(error))
        raise LoadError("import", f"{type(error).__name__}: {error}", detail) from error
    return package


def _belongs(member: type, module_name: str) -> bool:
    return member.__module__ == module_name or member.__module__.startswith(f"{module_name}.")


def _once(members: Any) -> list[Any]:
    return list({id(member): member for member in members}.values())
