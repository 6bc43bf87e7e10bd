"""A plugin that does nothing."""

from maibot_sdk import MaiBotPlugin, Tool


class Noop(MaiBotPlugin):
    async def on_load(self) -> None:
        pass

    async def on_unload(self) -> None:
        pass

    async def on_config_update(self, scope: str, config_data: dict, version: str) -> None:
        pass

    @Tool("noop", description="Does nothing.", core_tool=True)
    async def noop(self, **kwargs):
        return {"success": True, "content": "done"}


def create_plugin():
    return Noop()
