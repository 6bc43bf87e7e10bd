"""A plugin with a model of its configuration."""

from maibot_sdk import Field, MaiBotPlugin, PluginConfigBase, Tool


class PluginSection(PluginConfigBase):
    enabled: bool = Field(default=True)
    config_version: str = Field(default="1.1.0")


class SearchSection(PluginConfigBase):
    city: str = Field(default="上海")
    limit: int = Field(default=5)


class Config(PluginConfigBase):
    plugin: PluginSection = Field(default_factory=PluginSection)
    search: SearchSection = Field(default_factory=SearchSection)


class ConfiguredPlugin(MaiBotPlugin):
    config_model = Config
    config_reload_subscriptions = ("bot",)

    def __init__(self):
        super().__init__()
        self.updates = []

    async def on_load(self):
        self.updates.append(["load", self.config.search.city, ""])

    async def on_unload(self):
        pass

    async def on_config_update(self, scope, config_data, version):
        if config_data.get("search", {}).get("city") == "nowhere":
            raise ValueError("there is no such city")
        self.updates.append([scope, config_data.get("search", {}).get("city"), version])

    @Tool("config", description="tells its configuration")
    async def handle_config(self, **kwargs):
        return {"city": self.config.search.city, "limit": self.config.search.limit, "updates": self.updates}


def create_plugin():
    return ConfiguredPlugin()
