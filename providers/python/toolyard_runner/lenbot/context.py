"""What a plugin gets to work with: one context for its whole life, and one for each call."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .messages import ChatMessage, Image, Part, Sent, Text, read_messages, read_sent, write_parts
from .options import EveryScene
from .source import check_owner, check_owner_id

if TYPE_CHECKING:
    from .runtime import Runtime


class PluginContext:
    """The plugin's own context; what concerns a chat takes its scene."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.name: str = runtime.options.name
        self.data_dir: Path = runtime.data_dir
        self.bot_id: str = runtime.options.bot_id
        self.logger = logging.getLogger(f"lenbot.{runtime.options.name}")
        self.log = self.logger

    @property
    def config(self) -> Mapping[str, Any]:
        """The configured values, defaults included."""
        return self._runtime.config

    @property
    def scenes(self) -> tuple[str, ...]:
        """The scenes in which the plugin is enabled."""
        scenes = self._runtime.options.scenes
        return EveryScene() if scenes is None else scenes

    enabled_scenes = scenes

    def now(self) -> float:
        """Seconds since 1970."""
        return self._runtime.now()

    def timezone(self, scene: str | None = None) -> str:
        """The time zone of a scene."""
        return self._runtime.options.timezone

    def messages_between(
        self, scene: str, after: float, before: float, *, offset: int = 0, limit: int = 500
    ) -> list[ChatMessage]:
        """Messages of a scene from `after` on and before `before`, oldest first. Blocks until the backend answers."""
        asked = {"scene": scene, "after": after, "before": before, "offset": offset, "limit": limit}
        return read_messages(self._runtime.host.capability_now("lenbot.messages_between", asked), scene)

    def recent_messages(self, scene: str, limit: int = 50) -> list[ChatMessage]:
        """The last messages of a scene, oldest first. Blocks until the backend answers."""
        asked = {"scene": scene, "limit": limit}
        return read_messages(self._runtime.host.capability_now("lenbot.recent_messages", asked), scene)

    async def get_kv(self, key: str, default: Any = None) -> Any:
        """A value that the plugin keeps."""
        return self._runtime.storage.get(key, default)

    async def set_kv(self, key: str, value: Any) -> None:
        """Keeps a JSON value."""
        self._runtime.storage.set(key, value)

    async def delete_kv(self, key: str) -> bool:
        """Forgets a value; says whether there was one."""
        return self._runtime.storage.delete(key)

    def redact(self, text: str) -> str:
        """The text without the secret values of the configuration."""
        return self._runtime.redactor.text(text)

    def require_owner(self, scene: str, requester_id: str) -> None:
        """Raises PermissionError unless the id is that of an owner of the bot."""
        check_owner_id(self._runtime.options, self._runtime.host, scene, requester_id)

    async def send(self, scene: str, text: str, *, reply_to: str | None = None) -> Sent:
        """Sends text."""
        return await self.send_parts(scene, [Text(text)], reply_to=reply_to)

    async def send_image(self, scene: str, data: bytes, description: str = "", *, reply_to: str | None = None) -> Sent:
        """Sends a picture."""
        return await self.send_parts(scene, [Image(data, description)], reply_to=reply_to)

    async def send_parts(self, scene: str, parts: list[Part], *, reply_to: str | None = None) -> Sent:
        """Sends several parts as one message. Raises ValueError when there is nothing to send."""
        asked = {"scene": scene, "parts": write_parts(parts), "reply_to": reply_to}
        return read_sent(await self._runtime.host.capability("lenbot.send", asked))

    async def emit_event(self, scene: str, text: str) -> None:
        """Tells the bot that something happened in a scene."""
        await self._runtime.host.capability("lenbot.emit_event", {"scene": scene, "text": text})

    async def generate(
        self, scene: str, prompt: str, *, role: str = "mind", system: str | None = None, **options: Any
    ) -> str:
        """Has a model of the bot write a text."""
        asked = {"scene": scene, "prompt": prompt, "role": role, "system": system, **options}
        answer = await self._runtime.host.capability("lenbot.generate", asked)
        return answer if isinstance(answer, str) else str(answer.get("text", ""))

    async def memory(self, scene: str, arguments: Mapping[str, Any] | str, **options: Any) -> Any:
        """Asks the bot's memory, with the arguments of its tool or with a plain query."""
        asked = {"query": arguments} if isinstance(arguments, str) else dict(arguments)
        return await self._runtime.host.capability("lenbot.memory", {**asked, **options, "scene": scene})

    async def delegate(
        self,
        scene: str,
        goal: str,
        deliverable: str,
        *,
        context: str = "",
        materials: Sequence[Any] = (),
        **options: Any,
    ) -> Any:
        """Hands work to the bot; gives its task."""
        asked = {"goal": goal, "deliverable": deliverable, "context": context, "materials": list(materials)}
        asked |= {**options, "scene": scene}
        return await self._runtime.host.capability("lenbot.delegate", asked)

    async def fetch_image(self, url: str, *, timeout_seconds: float | None = None) -> bytes:
        """Has the backend fetch a picture, which checks the address."""
        timeout_ms = None if timeout_seconds is None else int(timeout_seconds * 1000)
        answer = await self._runtime.host.capability("lenbot.fetch_image", {"url": url}, timeout_ms)
        return base64.b64decode(answer if isinstance(answer, str) else answer["data"])

    def start_task(self, name: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Starts work in the background; the plugin's end cancels it."""
        return self._runtime.start_task(name, work)

    def report_error(self, where: str, error: BaseException) -> str:
        """Notes an error among the last ones of the plugin; gives its text without secrets."""
        return self._runtime.report_error(where, error)

    def cron(self, name: str, expression: str, handler: Callable[..., Any], **options: Any) -> asyncio.Task[Any]:
        """Accepted and reported; schedules do not run here. The task waits until the plugin ends."""
        self._runtime.declare("cron", name, expression)
        return self._runtime.start_task(name, _forever())


class Invocation:
    """The context of one call: its scene, and the message that asked for it where the tool needs one."""

    def __init__(self, context: PluginContext, scene: str, message: ChatMessage | None = None) -> None:
        self.plugin = context
        self.scene = scene
        self.message = message
        self.data_dir = context.data_dir
        self.bot_id = context.bot_id
        self.logger = context.logger
        self.log = context.logger
        self.redact = context.redact
        self.now = context.now
        self.get_kv = context.get_kv
        self.set_kv = context.set_kv
        self.delete_kv = context.delete_kv
        self.start_task = context.start_task
        self.report_error = context.report_error
        self.fetch_image = context.fetch_image

    @property
    def config(self) -> Mapping[str, Any]:
        """The configured values, defaults included."""
        return self.plugin.config

    def timezone(self) -> str:
        """The time zone of the scene."""
        return self.plugin.timezone(self.scene)

    def require_owner(self) -> None:
        """Raises PermissionError unless an owner of the bot sent the message."""
        runtime = self.plugin._runtime
        check_owner(runtime.options, runtime.host, self.scene, self.message)

    def messages_between(self, after: float, before: float, *, offset: int = 0, limit: int = 500) -> list[ChatMessage]:
        """Messages of the scene; see `PluginContext`."""
        return self.plugin.messages_between(self.scene, after, before, offset=offset, limit=limit)

    def recent_messages(self, limit: int = 50) -> list[ChatMessage]:
        """The last messages of the scene; see `PluginContext`."""
        return self.plugin.recent_messages(self.scene, limit)

    async def send(self, text: str) -> Sent:
        """Sends text to the scene."""
        return await self.plugin.send(self.scene, text)

    async def send_image(self, data: bytes, description: str = "") -> Sent:
        """Sends a picture to the scene."""
        return await self.plugin.send_image(self.scene, data, description)

    async def send_parts(self, parts: list[Part]) -> Sent:
        """Sends several parts as one message to the scene."""
        return await self.plugin.send_parts(self.scene, parts)

    async def reply(self, text: str) -> Sent:
        """Answers the message that asked, or the scene where none did."""
        return await self.reply_parts([Text(text)])

    async def reply_image(self, data: bytes, description: str = "") -> Sent:
        """Answers with a picture."""
        return await self.reply_parts([Image(data, description)])

    async def reply_parts(self, parts: list[Part]) -> Sent:
        """Answers with several parts."""
        reply_to = None if self.message is None else self.message.platform_message_id
        return await self.plugin.send_parts(self.scene, parts, reply_to=reply_to)

    async def emit_event(self, text: str) -> None:
        """Tells the bot that something happened in the scene."""
        await self.plugin.emit_event(self.scene, text)

    async def generate(self, prompt: str, *, role: str = "mind", system: str | None = None, **options: Any) -> str:
        """Has a model of the bot write a text."""
        return await self.plugin.generate(self.scene, prompt, role=role, system=system, **options)

    async def memory(self, arguments: Mapping[str, Any] | str, **options: Any) -> Any:
        """Asks the bot's memory."""
        return await self.plugin.memory(self.scene, arguments, **options)

    async def delegate(self, goal: str, deliverable: str, **options: Any) -> Any:
        """Hands work to the bot; gives its task."""
        return await self.plugin.delegate(self.scene, goal, deliverable, **options)


async def _forever() -> None:
    await asyncio.get_running_loop().create_future()
