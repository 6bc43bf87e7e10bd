"""Asks its host for everything that there is, through the SDK, and tells what it gets."""

from __future__ import annotations

import inspect
from typing import Any

from maibot_sdk import MaiBotPlugin, Tool
from maibot_sdk.types import ToolParameterInfo, ToolParamType


class CapabilitiesPlugin(MaiBotPlugin):
    """The plugin under test."""

    def __init__(self) -> None:
        super().__init__()
        self.while_loading: Any = None

    async def on_load(self) -> None:
        self.while_loading = {"own": await _told(self.ctx.config.get_all), "send": await _told(self._say)}
        self.register_dynamic_api("late", self._late, public=True)
        await self.sync_dynamic_apis()

    async def on_unload(self) -> None:
        pass

    async def on_config_update(self, scope: str, config_data: dict[str, Any], version: str) -> None:
        pass

    @Tool(
        "ask",
        description="Calls one method of the SDK's context.",
        parameters=[
            ToolParameterInfo(name="method", param_type=ToolParamType.STRING, description="Such as send.text."),
            ToolParameterInfo(name="named", param_type=ToolParamType.OBJECT, description="Its arguments."),
        ],
    )
    async def handle_ask(self, method: str, named: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        target: Any = self.ctx
        for part in method.split("."):
            target = getattr(target, part)
        return {"content": "asked", "got": await _told(target, **named)}

    @Tool("raw", description="Asks for a capability by its name.", parameters={"name": {"type": "string"}})
    async def handle_raw(self, name: str, **kwargs: Any) -> dict[str, Any]:
        return {"content": "asked", "got": await _told(self.ctx.call_capability, name)}

    @Tool("loading", description="What it got while it was loaded.")
    async def handle_loading(self, **kwargs: Any) -> dict[str, Any]:
        return {"content": "loaded", "got": self.while_loading}

    async def _say(self) -> Any:
        return await self.ctx.send.text("hello", "s1")

    async def _late(self, **kwargs: Any) -> Any:
        return {"late": kwargs}


async def _told(method: Any, *positional: Any, **named: Any) -> Any:
    try:
        result = method(*positional, **named)
        return await result if inspect.isawaitable(result) else result
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises is told
        return {"raised": str(error)}


def create_plugin() -> MaiBotPlugin:
    return CapabilitiesPlugin()
