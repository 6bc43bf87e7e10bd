"""The SDK's remote calls, answered by the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolyard_runner.dialect import Host

_CALL = "cap.call"
_REPLACE_DYNAMIC = "api.replace_dynamic"
# Names under which a plugin may put the time that a call may take among its arguments.
_TIMEOUTS = ("rpc_timeout_ms", "_timeout_ms", "timeout_ms")


class Bridge:
    """What the SDK's context calls."""

    def __init__(
        self, host: Host, plugin_id: str, config: Callable[[], Any], apis_replaced: Callable[[list[Any]], None]
    ) -> None:
        self._host = host
        self._plugin_id = plugin_id
        self._config = config
        self._apis_replaced = apis_replaced

    async def __call__(
        self, method: str, plugin_id: str = "", payload: dict[str, Any] | None = None, timeout_ms: int | None = None
    ) -> Any:
        """One remote call. The plugin cannot speak for another: its id is the host's to know."""
        del plugin_id
        payload = payload or {}
        if method != _CALL:
            return await self._host.capability(method, payload, timeout_ms)
        name = str(payload.get("capability", "")).strip()
        arguments = dict(payload.get("args") or {})
        timeout_ms = _timeout(name, arguments, timeout_ms)
        if name == _REPLACE_DYNAMIC:
            # Before the request, so that the host knows them by the time that it answers.
            self._apis_replaced(list(arguments.get("apis") or []))
        answer = await self._host.capability(name, arguments, timeout_ms)
        if self._is_own_config(name, arguments):
            # The host has allowed it; it learns the configuration only once the plugin is loaded.
            return {"success": True, "value": self._config()}
        return answer

    def _is_own_config(self, name: str, arguments: dict[str, Any]) -> bool:
        if name == "config.get_all":
            return True
        return name == "config.get_plugin" and arguments.get("plugin_name") in (None, "", self._plugin_id)


def _timeout(name: str, arguments: dict[str, Any], given: int | None) -> int | None:
    """The time for this call, in milliseconds. Rendering has a `timeout_ms` of its own."""
    for key in _TIMEOUTS:
        if key == "timeout_ms" and name.startswith("render."):
            continue
        if key in arguments:
            value = arguments.pop(key)
            given = _positive(value) if given is None else given
    return _positive(given)


def _positive(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number > 0 else None
