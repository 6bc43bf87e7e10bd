"""From a folder to a plugin object: the import, `create_plugin()`, and the SDK's layer for old plugins."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from toolyard_runner.dialect import LoadError
from toolyard_runner.maibot import packages
from toolyard_runner.maibot.failure import load_error

LIFECYCLE = ("on_load", "on_unload", "on_config_update")


def check_sdk() -> str:
    """The version of the SDK that is installed."""
    try:
        import maibot_sdk
    except ImportError as error:
        command = packages.install_command([packages.Package("maibot-plugin-sdk", "")])
        raise load_error("sdk", f"the SDK for MaiBot's plugins is not installed; {command}", error) from error
    return str(getattr(maibot_sdk, "__version__", "unknown"))


def import_plugin(folder: Path, plugin_id: str, absent: list[packages.Package]) -> ModuleType:
    """Runs `plugin.py` as a package, so that its relative imports find its neighbours."""
    from maibot_sdk.compat import _import_hook

    _import_hook.install_hook()
    name = "_maibot_plugin_" + re.sub(r"[^0-9A-Za-z]", "_", plugin_id)
    source = folder / "plugin.py"
    spec = importlib.util.spec_from_file_location(name, source, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise LoadError("import", f"{source} cannot be imported", "")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _search_path(folder):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        failure = load_error("import", "plugin.py cannot be imported", error)
        raise LoadError("import", failure.message + packages.advice(error, absent), failure.detail) from error
    return module


async def create(module: ModuleType) -> Any:
    """The plugin object, or an old plugin in the SDK's adapter."""
    try:
        plugin = await _create(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, LoadError):
            raise
        raise load_error("create", "the plugin object cannot be made", error) from error
    if not is_legacy(plugin):
        _check_lifecycle(plugin)
    return plugin


def is_legacy(plugin: object) -> bool:
    """Whether it is an old plugin in its adapter."""
    from maibot_sdk.compat.legacy_adapter import LegacyPluginAdapter

    return isinstance(plugin, LegacyPluginAdapter)


async def _create(module: ModuleType) -> Any:
    from maibot_sdk.compat.legacy_adapter import LegacyPluginAdapter

    factory = getattr(module, "create_plugin", None)
    if callable(factory):
        plugin = factory()
        if inspect.isawaitable(plugin):
            plugin = await plugin
        if plugin is None:
            raise LoadError("create", "create_plugin() gave nothing back", "")
        return LegacyPluginAdapter(plugin) if _is_old(type(plugin)) else plugin
    old = _old_class(module)
    if old is None:
        raise LoadError("create", "plugin.py has neither create_plugin() nor a class that derives from BasePlugin", "")
    return LegacyPluginAdapter(old())


def _old_class(module: ModuleType) -> Any:
    marked = getattr(module, "_legacy_plugin_class", None)
    if inspect.isclass(marked):
        return marked
    own = (value for value in vars(module).values() if inspect.isclass(value) and value.__module__ == module.__name__)
    return next((value for value in own if _is_old(value) and not inspect.isabstract(value)), None)


def _is_old(kind: type) -> bool:
    # By name: behind the import hook there may be two classes of one name.
    return any(base.__name__ == "BasePlugin" for base in kind.__mro__[1:])


def _check_lifecycle(plugin: object) -> None:
    """The SDK's own methods only raise; without this a plugin would fail at its first change of configuration."""
    from maibot_sdk import MaiBotPlugin

    def is_missing(name: str) -> bool:
        method = getattr(type(plugin), name, None)
        return method is None or method is getattr(MaiBotPlugin, name)

    missing = [name for name in LIFECYCLE if is_missing(name)]
    if missing:
        names = ", ".join(f"{name}()" for name in missing)
        raise LoadError("create", f"TypeError: {type(plugin).__name__} must override {names}", "")


@contextmanager
def _search_path(folder: Path) -> Iterator[None]:
    added = [str(folder.parent), str(Path("src").resolve())]
    sys.path[:0] = added
    try:
        yield
    finally:
        for entry in added:
            if entry in sys.path:
                sys.path.remove(entry)
