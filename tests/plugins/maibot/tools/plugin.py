"""Tools in every form that the SDK has, and handlers of every kind."""

import asyncio
import threading

from maibot_sdk import API, Action, Command, EventHandler, MaiBotPlugin, Tool
from maibot_sdk.types import ToolParameterInfo, ToolParamType

from .replies import REPLIES

TOGETHER = threading.Barrier(8)


class ToolsPlugin(MaiBotPlugin):
    """The plugin."""

    async def on_load(self):
        self.loaded_with = await self.ctx.send.text("loaded", "stream")

    async def on_unload(self):
        (self.ctx.paths.data_dir / "unloaded").write_text("yes")

    async def on_config_update(self, scope, config_data, version):
        pass

    # === declarations ===

    @Tool(
        "search",
        description="搜索互联网",
        core_tool=True,
        timeout_ms="9000",
        parameters=[
            ToolParameterInfo(name="query", param_type=ToolParamType.STRING, description="关键词", required=True),
            ToolParameterInfo(
                name="limit", param_type=ToolParamType.INTEGER, description="上限", required=False, default=5
            ),
            ToolParameterInfo(name="ids", param_type=ToolParamType.ARRAY, description="no items", required=False),
        ],
    )
    async def handle_search(self, query, limit=5, **kwargs):
        return {"content": f"{query} {limit}"}

    @Tool("mapped", description="d", parameters={"q": {"type": "string", "required": True}, "n": {"type": "integer"}})
    async def handle_mapped(self, **kwargs):
        return {"content": kwargs["q"]}

    @Tool("poison", description="d", timeout_ms=-1)
    async def handle_poison(self, **kwargs):
        return {}

    @Tool("unsendable", description="d", icon={1, 2})
    async def handle_unsendable(self, **kwargs):
        return {}

    @Tool("group-only", description="d", chat_scope="group", visibility="visible")
    async def handle_group_only(self, **kwargs):
        return {"content": "in a group"}

    @Tool("chosen", description="d", allowed_session=["s1"], visibility="visible")
    async def handle_chosen(self, **kwargs):
        return {"content": "in s1"}

    @Tool("on_qq", description="d", platforms="QQ", visibility="visible")
    async def handle_on_qq(self, **kwargs):
        return {"content": "on qq"}

    @Tool("hidden", description="d", visibility="Hidden", core_tool=True)
    async def handle_hidden(self, **kwargs):
        return {}

    @Tool("off", description="d", enabled=False)
    async def handle_off(self, **kwargs):
        return {}

    # === calls ===

    @Tool("echo", description="gives its arguments back")
    async def handle_echo(self, **kwargs):
        return {"got": kwargs}

    @Tool("strict", description="takes what it declares", parameters={"q": {"type": "string"}})
    async def handle_strict(self, q=""):
        return {"content": q}

    @Tool("own_message", description="d", parameters={"message": {"type": "string"}})
    async def handle_own_message(self, message="nothing", **kwargs):
        return {"content": str(message)}

    @Tool("reply", description="returns what is asked for", parameters={"kind": {"type": "string"}})
    async def handle_reply(self, kind, **kwargs):
        return REPLIES[kind]

    @Tool("raises", description="d")
    async def handle_raises(self, **kwargs):
        raise ValueError("no such city")

    @Tool("exits", description="d")
    async def handle_exits(self, **kwargs):
        raise SystemExit(3)

    @Tool("thread", description="d")
    def handle_thread(self, **kwargs):
        return {"content": "main" if threading.current_thread() is threading.main_thread() else "another"}

    @Tool("meets", description="d")
    def handle_meets(self, **kwargs):
        TOGETHER.wait()
        return "met"

    @Tool("sleeps", description="d")
    async def handle_sleeps(self, **kwargs):
        await asyncio.sleep(60)

    @Tool("says", description="d", parameters={"text": {"type": "string"}})
    async def handle_says(self, text, stream_id="", **kwargs):
        return {"content": f"{self.loaded_with} {await self.ctx.send.text(text, stream_id)}"}

    @Tool("forbidden", description="d")
    async def handle_forbidden(self, **kwargs):
        return {"content": str(await self.ctx.emoji.get_count())}

    @Tool("paths", description="d")
    async def handle_paths(self, **kwargs):
        paths = self.ctx.paths
        return {"content": f"{paths.data_dir.is_dir()} {paths.runtime_dir.is_dir()} {self.ctx.plugin_id}"}

    # === others ===

    @Action("mute", description="禁言", action_parameters={"target": "对象"})
    async def handle_mute(self, **kwargs):
        return True, " ".join(f"{name}={kwargs[name]}" for name in ("target", "stream_id", "reasoning", "action_data"))

    @API("add", description="d", public=True)
    async def handle_add(self, a, b):
        return a + b

    @Command("hello", pattern=r"^/hello")
    async def handle_hello(self, **kwargs):
        return True, "hello", 1

    @EventHandler("listens", description="d")
    async def handle_listens(self, **kwargs):
        return True


def create_plugin():
    return ToolsPlugin()
