"""A plugin with one tool. Every name that `parameters` declares is an argument of the handler."""

import random
from typing import Any

from maibot_sdk import MaiBotPlugin, Tool
from maibot_sdk.types import ToolParameterInfo, ToolParamType

MAX_SIDES = 1000


class DicePlugin(MaiBotPlugin):
    """Rolls dice."""

    async def on_load(self) -> None:
        self.ctx.logger.info("loaded")

    async def on_unload(self) -> None:
        pass

    async def on_config_update(self, scope: str, config_data: dict[str, Any], version: str) -> None:
        pass

    @Tool(
        "roll_dice",
        description="用户要掷骰子或要随机数时使用。返回一个 1 到 sides 的整数。",
        # Seen by the model in every turn. Leave it out, and the model has to search for the tool first.
        core_tool=True,
        parameters=[
            ToolParameterInfo(
                name="sides",
                param_type=ToolParamType.INTEGER,
                description="骰子的面数，2 到 1000，默认 6",
                required=False,
                default=6,
            ),
        ],
    )
    async def handle_roll_dice(self, sides: int = 6, **kwargs: Any) -> dict[str, Any]:
        if not 2 <= sides <= MAX_SIDES:
            return {"success": False, "content": f"面数应为 2 到 {MAX_SIDES}。"}
        value = random.randint(1, sides)
        # `content` is what the model reads; everything else is data beside it.
        return {"success": True, "content": f"掷出了 {value}（共 {sides} 面）。", "value": value, "sides": sides}


def create_plugin() -> MaiBotPlugin:
    return DicePlugin()
