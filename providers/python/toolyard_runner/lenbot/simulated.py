"""A bot backend that answers from memory, for the tests of plugins."""

from __future__ import annotations

import base64
import inspect
import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..dialect import CapabilityError
from .messages import ChatMessage, Delivery, Image, Mention, Part, Segment, Sender, Text

BOT_ID = "onebot:90001"


class SimulatedHost:
    """Answers what a plugin asks. Sends are kept in `deliveries` and go nowhere."""

    def __init__(self, now: Callable[[], float] | None, generate: Callable[..., Any] | None) -> None:
        self.now = now or time.time
        self.generate = generate
        self.messages: list[ChatMessage] = []
        self.deliveries: list[Delivery] = []
        self.events: list[dict[str, Any]] = []
        self.plugins: dict[str, Any] = {}
        self._ids = itertools.count(1)
        self._plugin = ""

    @property
    def tasks(self) -> list[Any]:
        """The work that plugins have started."""
        return [task for plugin in self.plugins.values() for task in plugin.tasks]

    async def capability(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """See `Host`."""
        if name == "lenbot.generate" and self.generate is not None:
            asked = (arguments["scene"], arguments["prompt"], arguments["role"], arguments["system"])
            answer = self.generate(self.plugins.get(self._plugin), *asked)
            return await answer if inspect.isawaitable(answer) else answer
        return self.capability_now(name, arguments, timeout_ms)

    def capability_now(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """See `Host`."""
        answer = getattr(self, f"_{name.removeprefix('lenbot.')}", None)
        if answer is None:
            raise CapabilityError("E_CAPABILITY_FAILED", f"测试环境不提供 {name}")
        return answer(**arguments)

    def log(self, level: str, message: str, logger: str = "") -> None:
        """See `Host`."""
        logging.getLogger(logger or "lenbot").log(logging.getLevelName(level.upper()), message)

    def changed(self, plugin: dict[str, Any]) -> None:
        """See `Host`."""

    def add(self, text: str, scene: str, sender: str, ident: str | None, timestamp: float | None) -> ChatMessage:
        """Adds a message as if it had been received."""
        number = ident or str(1000 + next(self._ids))
        message = ChatMessage(
            id=number,
            platform=scene.partition(":")[0],
            bot_id=BOT_ID,
            scene=scene,
            platform_message_id=number,
            sender=Sender(sender, sender.rpartition(":")[2]),
            time=self.now() if timestamp is None else timestamp,
            segments=[Segment("text", {"text": text})],
        )
        self.messages.append(message)
        return message

    def _messages_between(self, scene: str, after: float, before: float, offset: int, limit: int) -> list[Any]:
        found = [entry for entry in self.messages if entry.scene == scene and after <= entry.time < before]
        found.sort(key=lambda entry: entry.time)
        return [asdict(entry) for entry in found[offset : offset + limit]]

    def _recent_messages(self, scene: str, limit: int) -> list[Any]:
        return [asdict(entry) for entry in self.messages if entry.scene == scene][-limit:]

    def _message(self, scene: str, message_id: str) -> Any:
        matching = (entry for entry in self.messages if entry.platform_message_id == message_id)
        return next((asdict(entry) for entry in matching if entry.scene == scene), None)

    def _send(self, scene: str, parts: list[dict[str, Any]], reply_to: str | None = None) -> Any:
        self.deliveries.append(Delivery(scene, tuple(_part(part) for part in parts), "simulated", reply_to))
        return {"status": "simulated", "report": "模拟发送，没有发到平台", "message_ids": []}

    def _emit_event(self, scene: str, text: str) -> None:
        self.events.append({"id": len(self.events) + 1, "scene": scene, "content": text})

    def _owners(self, scene: str) -> list[str]:
        return []


def _part(written: dict[str, Any]) -> Part:
    if written["type"] == "text":
        return Text(written["text"])
    if written["type"] == "image":
        return Image(base64.b64decode(written["data"]), written["description"])
    return Mention(written["user"])
