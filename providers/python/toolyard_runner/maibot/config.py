"""A plugin's `config.toml`: read, completed from the plugin's model, written back where it was incomplete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolyard_runner.dialect import LoadError
from toolyard_runner.maibot import toml_text
from toolyard_runner.maibot.failure import named

MAX_BYTES = 4 * 1024 * 1024
_OFF = {"0", "false", "no", "off"}


class ConfigError(ValueError):
    """The configuration cannot be used. Values never stand in the message: they may be secrets."""


class ConfigFile:
    """The file in the plugin's folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "config.toml"
        self.warnings: list[str] = []

    def read(self, plugin: Any) -> dict[str, Any]:
        """The configuration as the plugin gets it. A file that is missing or incomplete is written."""
        self.warnings = []
        if _has_model(plugin):
            # Before a file is written that could not be read the next time.
            _toml_reader()
        raw = self._raw()
        if not _has_model(plugin):
            return raw or {}
        complete, has_changed = completed(plugin, raw or {})
        normalised = normalise(plugin, complete)
        if raw is None or has_changed:
            self._write(complete)
        return normalised

    def _raw(self) -> dict[str, Any] | None:
        try:
            if self._path.stat().st_size > MAX_BYTES:
                raise ConfigError(f"config.toml is larger than {MAX_BYTES} bytes")
            text = self._path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"config.toml cannot be read: {named(error)}") from None
        toml = _toml_reader()
        try:
            return toml.loads(text)
        except toml.TOMLDecodeError as error:
            raise ConfigError(f"config.toml is not TOML: {error}") from None

    def _write(self, document: Mapping[str, Any]) -> None:
        """In one step, and with the old file kept beside it. A folder that cannot be written to stops nothing."""
        try:
            if self._path.exists():
                _replace(self._path.with_name("config.toml.bak"), self._path.read_bytes())
            _replace(self._path, toml_text.dumps(document).encode())
        except OSError as error:
            self.warnings.append(f"config.toml is incomplete and cannot be written: {named(error)}")


def completed(plugin: Any, raw: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The file's values with the model's defaults where they are missing; keys that the model does not know stay."""
    from maibot_sdk import config as sdk

    try:
        defaults = type(plugin).build_default_config()
        version = sdk.extract_plugin_config_version(defaults)
        if not raw:
            return defaults, True
        old_version = sdk.extract_plugin_config_version(raw)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if _is_lower(old_version, version):
        upgraded = _upgraded(defaults, raw)
        upgraded["plugin"]["config_version"] = version
        return upgraded, True
    merged, has_changed = sdk.merge_plugin_config_data(defaults, raw)
    return merged, has_changed


def normalise(plugin: Any, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration as the plugin's model sees it; without a model it stays as it is."""
    if not _has_model(plugin):
        return config
    from pydantic import ValidationError

    try:
        normalised, _ = plugin.normalize_plugin_config(config)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        places = (".".join(str(part) for part in fault["loc"]) + ": " + str(fault["msg"]) for fault in faults)
        raise ConfigError("the configuration does not fit the plugin's model: " + "; ".join(places)) from None
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return normalised


def version_of(config: Mapping[str, Any]) -> str:
    """`plugin.config_version`, or nothing."""
    section = config.get("plugin")
    return str(section.get("config_version", "")) if isinstance(section, Mapping) else ""


def inactive_reason(config: Mapping[str, Any]) -> str | None:
    """Why the plugin is not to run, if so."""
    section = config.get("plugin")
    enabled = section.get("enabled", True) if isinstance(section, Mapping) else True
    is_off = enabled.strip().lower() in _OFF if isinstance(enabled, str) else enabled is False
    return "`plugin.enabled` is off in its configuration" if is_off else None


def _has_model(plugin: Any) -> bool:
    check = getattr(type(plugin), "has_config_model", None)
    return bool(check and check())


def _toml_reader() -> Any:
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            message = "Python 3.10 reads no TOML; install tomli, or use Python 3.11 or newer"
            raise LoadError("config", message, "") from None
    return tomllib


def _upgraded(defaults: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """The new defaults with the old values of the same types; what is not known any more stays at the end."""
    upgraded = dict(defaults)
    for key, value in old.items():
        default = defaults.get(key)
        if isinstance(default, Mapping) and isinstance(value, Mapping):
            upgraded[key] = _upgraded(default, value)
        elif key not in defaults or default is None or _is_same_type(default, value):
            upgraded[key] = value
    return upgraded


def _is_same_type(default: Any, value: Any) -> bool:
    if isinstance(default, float) and isinstance(value, int):
        return not isinstance(value, bool)
    # Enumerations stand in a file as what they are made of.
    return type(value) is type(getattr(default, "value", default))


def _is_lower(version: str, other: str) -> bool:
    try:
        numbers, others = ([int(part) for part in word.split(".")] for word in (version, other))
    except ValueError:
        return False
    return numbers < others


def _replace(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, temporary = tempfile.mkstemp(prefix=".config-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
