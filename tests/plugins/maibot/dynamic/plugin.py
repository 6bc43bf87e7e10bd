"""A plugin whose tools and APIs come and go."""

from maibot_sdk import MaiBotPlugin


class DynamicPlugin(MaiBotPlugin):
    def __init__(self):
        super().__init__()
        self.names = ["grow"]

    async def on_load(self):
        self.names.append("from-on-load")

    async def on_unload(self):
        pass

    async def on_config_update(self, scope, config_data, version):
        pass

    def get_components(self):
        tools = [
            {"name": name, "type": "TOOL", "metadata": {"description": name, "handler_name": "no_such_method"}}
            for name in self.names
        ]
        return tools + super().get_components()

    async def invoke_component(self, component_name, **kwargs):
        if component_name == "grow":
            self.names.append(kwargs["name"])
            self.register_dynamic_api(kwargs["name"], lambda **given: {"api": given}, version="2")
            return {"content": f"grown: {await self.sync_dynamic_apis()}"}
        if component_name.startswith("dynamic_api__"):
            return await super().invoke_component(component_name, **kwargs)
        return {"content": f"{component_name} in {kwargs.get('stream_id')}"}


def create_plugin():
    return DynamicPlugin()
