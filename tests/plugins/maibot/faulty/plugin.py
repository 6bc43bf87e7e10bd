"""Every fault that can be found in a plugin that loads, one a tool."""

from maibot_sdk import MaiBotPlugin, Tool
from maibot_sdk.types import ToolParameterInfo, ToolParamType

RESULTS = {
    "results": {"results": [1]},
    "empty": None,
    "stop": {"content": "bye", "stop_after_execution": "true"},
    "base64": {"content": "data:image/png;base64,iVBORw0KGgo="},
    "letters": {"content": "iVBORw0K" * 100},
    "item": {"content": "drawn", "content_items": [{"type": "image", "mime_type": "image/png"}]},
    "items": {"content": "drawn", "content_items": {"type": "image"}},
    "right": {"content": "fine"},
}


def text(name, required=True, description="an id, 3 characters"):
    return ToolParameterInfo(name=name, param_type=ToolParamType.STRING, description=description, required=required)


class FaultyPlugin(MaiBotPlugin):
    """The plugin."""

    async def on_load(self):
        pass

    async def on_unload(self):
        pass

    async def on_config_update(self, scope, config_data, version):
        pass

    def get_components(self):
        metadata = {"description": "has no handler", "visibility": "visible", "handler_name": "nowhere"}
        return [*super().get_components(), {"name": "ghost", "type": "TOOL", "metadata": metadata}]

    @Tool("refuses", description="takes nothing", core_tool=True, parameters=[text("city")])
    async def handle_refuses(self):
        return {"content": "x"}

    @Tool("undeclared", description="needs more than it says", core_tool=True)
    async def handle_undeclared(self, unit, stream_id, **kwargs):
        return {"content": "x"}

    @Tool("optional", description="says that it may be left out", core_tool=True, parameters=[text("city", False)])
    async def handle_optional(self, city, **kwargs):
        return {"content": "x"}

    @Tool("unsaid", description="says nothing of who sees it")
    async def handle_unsaid(self, **kwargs):
        return {"content": "x"}

    @Tool("meant", description="is deferred on purpose", visibility="deferred")
    async def handle_meant(self, **kwargs):
        return {"content": "x"}

    @Tool(
        "list",
        description="takes a list of anything",
        core_tool=True,
        parameters=[ToolParameterInfo(name="ids", param_type=ToolParamType.ARRAY, description="ids, at most 3")],
    )
    async def handle_list(self, ids, **kwargs):
        return {"content": "x"}

    @Tool(
        "object",
        description="takes an object of anything",
        core_tool=True,
        parameters=[ToolParameterInfo(name="options", param_type=ToolParamType.OBJECT, description="options")],
    )
    async def handle_object(self, options, **kwargs):
        return {"content": "x"}

    @Tool("poison", description="cannot be a tool", core_tool=True, timeout_ms=-1)
    async def handle_poison(self, **kwargs):
        return {"content": "x"}

    @Tool("undescribed", description="has a field without a word", core_tool=True, parameters=[text("q", description="")])
    async def handle_undescribed(self, q, **kwargs):
        return {"content": "x"}

    @Tool("wordless", core_tool=True)
    async def handle_wordless(self, **kwargs):
        return {"content": "x"}

    @Tool("天气", description="has a name that no vendor takes", core_tool=True)
    async def handle_weather(self, **kwargs):
        return {"content": "x"}

    @Tool("gives", description="gives a result of some kind", core_tool=True, parameters=[text("kind")])
    async def handle_gives(self, kind, **kwargs):
        return RESULTS[kind]


def create_plugin():
    return FaultyPlugin()
