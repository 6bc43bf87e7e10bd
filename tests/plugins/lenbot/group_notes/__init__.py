"""A plugin that covers what the interface promises."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from len_bot.plugin import Invocation, Plugin, PluginContext, background, command, fullmatch, tool
from pydantic import Field

from .requests import Loose, Request

if TYPE_CHECKING:
    from nowhere import Unknown


class Accounts:
    """Tools may come from a class beside the plugin's own."""

    ctx: PluginContext

    @tool("account_read", "读取账号。")
    async def account_read(self, ctx: Invocation) -> str:
        """Only where the configuration allows it."""
        return f"账号 {ctx.config['endpoint']}"

    @tool("owner_action", "按主人真实请求执行操作。", summary="主人操作", needs_source=True)
    async def owner_action(self, ctx: Invocation, note: str = "") -> dict:
        """For owners."""
        ctx.require_owner()
        return {"requester": ctx.message.sender.uid, "note": note}

    @tool("who_asks", "说出谁在请求。", needs_source=True)
    async def who_asks(self, ctx: Invocation) -> dict:
        """For everybody."""
        return {"id": ctx.message.platform_message_id, "uid": ctx.message.sender.uid, "text": ctx.message.text}


class GroupNotes(Accounts, Plugin):
    """The plugin."""

    def __init__(self, ctx: PluginContext) -> None:
        super().__init__(ctx)
        self.has_started = False

    async def start(self) -> None:
        """Notes that it was called."""
        self.has_started = True

    async def stop(self) -> None:
        """Leaves a trace for the tests."""
        (self.ctx.data_dir / "stopped").write_text("yes", encoding="utf-8")

    async def migrate_data(self, from_version: int) -> None:
        """Renames what version 1 kept."""
        await self.ctx.set_kv("note", f"{await self.ctx.get_kv('note')}, from {from_version}")

    def unavailable_tools(self, scene: str) -> dict[str, str]:
        """By configuration, and by scene."""
        reasons = {}
        if not self.ctx.config["account_read_enabled"]:
            reasons["account_read"] = "账号读取未开启"
        if scene in self.ctx.config["quiet_scenes"]:
            reasons["recent_count"] = "这个群不统计"
        return reasons

    @tool("recent_count", "统计当前群指定时段的消息数量。完整说明。", summary="查询本群最近几小时的消息数")
    async def recent_count(
        self,
        ctx: Invocation,
        hours: Annotated[int, Field(ge=1, le=72, description="向前回溯的小时数", examples=[12])] = 24,
    ) -> dict:
        """Pages through the messages."""
        before = ctx.now()
        count = 0
        while True:
            page = ctx.messages_between(before - hours * 3600, before, offset=count, limit=2)
            count += len(page)
            if len(page) < 2:
                return {"label": ctx.config["label"], "hours": hours, "count": count}

    @tool("content_lookup", "搜索或读取内容。")
    async def content_lookup(
        self, ctx: Invocation, request: Annotated[Request, Field(description="搜索或详情请求")]
    ) -> dict:
        """One tool for two actions."""
        return request.model_dump()

    @tool("titled", "带标题的参数。")
    async def titled(self, ctx: Invocation, title: str, *, schema: int = 1, loose: Loose | None = None) -> Unknown:
        """Parameters with names that mean something elsewhere."""
        return {"title": title, "schema": schema, "loose": None if loose is None else loose.model_dump()}

    @tool("give_back", "原样返回一种值。")
    async def give_back(self, ctx: Invocation, kind: str) -> object:
        """Values with and without a form in JSON."""
        values = {
            "text": "原文 {}",
            "dict": {"a": None, "b": [True, {"c": 1.5}]},
            "list": [1, "二"],
            "none": None,
            "number": 3,
            "false": False,
            "large": 653247040368672768123456789,
            "nan": {"x": [float("nan")]},
            "tuple": {"ids": (1, 2)},
            "keys": {1: "x"},
            "object": object(),
        }
        return values[kind]

    @tool("leak", "泄露密钥。")
    async def leak(self, ctx: Invocation, how: Literal["value", "error", "room"]) -> object:
        """Secrets in results and errors."""
        from urllib.parse import quote, quote_plus

        token = ctx.config["token"]
        if how == "error":
            raise ValueError(f"bad token {token!r}")
        if how == "room":
            return ctx.config["rooms"][0]["key"]
        import json

        forms = [token, json.dumps(token), repr(token), quote(token, safe=""), quote_plus(token)]
        return {"forms": forms, token: "key"}

    @tool("say", "发送一句话。")
    async def say(self, ctx: Invocation, text: str) -> dict:
        """Sends and says what became of it."""
        sent = await ctx.send(text)
        return {**asdict(sent), "message_ids": list(sent.message_ids)}

    @tool("card", "在后台生成并自行发送。", summary="后台生成卡片")
    async def card(self, ctx: Invocation) -> dict:
        """Starts work and answers at once."""
        self.ctx.start_task("card", self._card(ctx.scene))
        return {"status": "started", "delivery": "plugin"}

    async def _card(self, scene: str) -> None:
        await self.ctx.send(scene, await self.ctx.generate(scene, "一句话"))

    @tool("note", "记下或读出一句话。")
    async def note(self, ctx: Invocation, text: str | None = None) -> object:
        """Kept between starts."""
        if text is not None:
            await ctx.set_kv("note", text)
        return await ctx.get_kv("note")

    @tool("inspect", "说明当前环境。")
    async def inspect(self, ctx: Invocation) -> dict:
        """What the context holds."""
        return {
            "scene": ctx.scene,
            "message": ctx.message,
            "started": self.has_started,
            "task": asyncio.current_task().get_name(),
            "style": ctx.config["style"],
            "timezone": ctx.timezone(),
        }

    @tool("fail", "失败。")
    async def fail(self, ctx: Invocation, how: str) -> str:
        """Raises."""
        if how == "exit":
            raise SystemExit(3)
        if how == "cancel":
            raise asyncio.CancelledError
        raise LookupError(how)

    @tool("pause", "等待。")
    async def pause(self, ctx: Invocation, seconds: float) -> str:
        """Takes its time."""
        (ctx.data_dir / "pausing").write_text("yes", encoding="utf-8")
        await asyncio.sleep(seconds)
        return "done"

    @command("笔记", "读出笔记")
    async def show(self, ctx: Invocation, args: str) -> None:
        """A command."""
        await ctx.reply(f"{await ctx.get_kv('note')}{args}")

    @fullmatch("清空笔记", "清空")
    async def clear(self, ctx: Invocation) -> None:
        """A rule."""
        await ctx.delete_kv("note")

    @background("30s")
    async def watch(self, ctx: PluginContext) -> None:
        """Never runs here."""
        raise AssertionError
