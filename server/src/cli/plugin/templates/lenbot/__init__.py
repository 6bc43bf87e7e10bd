"""A plugin with one tool. The schema of the tool is made of its annotations."""

import random
from typing import Annotated, Any

from len_bot.plugin import Invocation, Plugin, tool
from pydantic import Field


class DicePlugin(Plugin):
    """Rolls dice."""

    @tool("roll_dice", "用户要掷骰子或要随机数时使用。返回一个 1 到 sides 的整数。", summary="掷骰子")
    async def roll_dice(
        self, ctx: Invocation, sides: Annotated[int, Field(ge=2, le=1000, description="骰子的面数，默认 6")] = 6
    ) -> dict[str, Any]:
        """Gives data; the model reads it as it is."""
        return {"value": random.randint(1, sides), "sides": sides}
