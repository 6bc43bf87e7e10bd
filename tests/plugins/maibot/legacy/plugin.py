"""A plugin of MaiBot before version 1, which knows no SDK."""

from typing import List, Tuple, Type

from src.plugin_system import (
    BaseAction,
    BasePlugin,
    BaseTool,
    ComponentInfo,
    ToolParamType,
    register_plugin,
)


class GreetAction(BaseAction):
    action_name = "greet"
    action_description = "问候某人"
    action_parameters = {"who": "对谁"}

    async def execute(self) -> Tuple[bool, str]:
        return True, f"hello {self.action_data.get('who')} because {self.action_reasoning}"


class AddTool(BaseTool):
    name = "add"
    description = "加法"
    parameters = [("a", ToolParamType.INTEGER, "first", True, None), ("b", ToolParamType.INTEGER, "second", False, None)]

    async def execute(self, function_args):
        return {"name": self.name, "content": str(function_args["a"] + function_args.get("b", 0))}


@register_plugin
class LegacyPlugin(BasePlugin):
    plugin_name = "legacy"
    enable_plugin = True
    config_file_name = "config.toml"

    def get_plugin_components(self) -> List[Tuple[ComponentInfo, Type]]:
        return [(GreetAction.get_action_info(), GreetAction), (AddTool.get_tool_info(), AddTool)]
