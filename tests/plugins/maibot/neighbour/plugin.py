"""Offers APIs to other plugins."""

from __future__ import annotations

from typing import Any

from maibot_sdk import API, MaiBotPlugin, Tool


class NeighbourPlugin(MaiBotPlugin):
    """The plugin that is asked."""

    async def on_load(self) -> None:
        pass

    async def on_unload(self) -> None:
        pass

    async def on_config_update(self, scope: str, config_data: dict[str, Any], version: str) -> None:
        pass

    @API("add", description="Adds.", version="2", public=True)
    async def handle_add(self, a: int, b: int) -> int:
        return a + b

    @API("broken", public=True)
    async def handle_broken(self) -> None:
        raise ValueError("it is broken")

    @API("secret")
    async def handle_secret(self) -> str:
        return "secret"

    @Tool("wave", description="Waves.")
    async def handle_wave(self, **kwargs: Any) -> dict[str, Any]:
        return {"content": "waves"}


def create_plugin() -> MaiBotPlugin:
    return NeighbourPlugin()
