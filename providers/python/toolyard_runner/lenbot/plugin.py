"""The class that every plugin derives from."""

from __future__ import annotations

from .context import PluginContext


class Plugin:
    """A plugin. `start` and `stop` frame its life."""

    def __init__(self, ctx: PluginContext) -> None:
        self.ctx = ctx

    async def start(self) -> None:
        """Called once before the first call; takes at most 60 s."""

    async def stop(self) -> None:
        """Called once after the last call, when its tasks have ended; takes at most 30 s."""

    async def migrate_data(self, from_version: int) -> None:
        """Called before `start` when the data on disk are of an older `data_version`."""
        raise NotImplementedError(f"插件没有提供从数据版本 {from_version} 升级的方法")

    def unavailable_tools(self, scene: str) -> dict[str, str]:
        """Tools that the configuration rules out in a scene, with the reasons. Decided by configuration only."""
        return {}
