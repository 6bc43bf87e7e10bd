"""Messages, what is sent, and their form towards the bot backend."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

SENT_STATUSES = ("sent", "failed", "unconfirmed", "simulated", "partial")


@dataclass(frozen=True)
class Sender:
    """Who sent a message; `uid` is `platform:account`."""

    uid: str
    nickname: str = ""
    card: str | None = None
    role: str | None = None


@dataclass(frozen=True)
class Segment:
    """A part of a received message."""

    type: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Notice:
    """Something that happened in a scene, such as a member who joined."""

    kind: str
    scene: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class ChatMessage:
    """A message of a scene, received or sent."""

    id: str
    platform: str
    bot_id: str
    scene: str
    platform_message_id: str
    sender: Sender
    time: float
    segments: list[Segment]
    reply_to: str | None = None
    mentions_bot: bool = False
    is_self: bool = False
    send_status: str = "received"
    recalled: bool = False

    @property
    def text(self) -> str:
        """The text parts in a row."""
        return "".join(str(part.data.get("text", "")) for part in self.segments if part.type == "text")


@dataclass(frozen=True)
class Text:
    """Text to send."""

    text: str


@dataclass(frozen=True)
class Image:
    """A picture to send, with what it shows."""

    data: bytes
    description: str = ""


@dataclass(frozen=True)
class Mention:
    """Mentions a user (`platform:account`) or `all`."""

    user: str


Part = Text | Image | Mention


@dataclass(frozen=True)
class Sent:
    """What became of something that was sent. Only `sent` counts as delivered."""

    status: str
    report: str = ""
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delivery:
    """A send that was only simulated."""

    scene: str
    parts: tuple[Part, ...]
    status: str = "simulated"
    reply_to: str | None = None

    @property
    def text(self) -> str:
        """The text parts in a row."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


def read_message(document: Any, scene: str) -> ChatMessage | None:
    """A message in the backend's form. Only its id has to be there; what is no message is none."""
    if not isinstance(document, dict):
        return None
    ident = _first(document, "platform_message_id", "message_id", "id")
    if ident is None:
        return None
    sender = document.get("sender")
    sender = sender if isinstance(sender, dict) else {}
    uid = _first(sender, "uid", "user_id") or _first(document, "user_id") or ""
    where = str(document.get("scene") or scene)
    reply_to = document.get("reply_to")
    return ChatMessage(
        id=str(document.get("id") or ident),
        platform=str(document.get("platform") or where.partition(":")[0]),
        bot_id=str(document.get("bot_id") or ""),
        scene=where,
        platform_message_id=str(ident),
        sender=Sender(str(uid), str(sender.get("nickname") or ""), sender.get("card"), sender.get("role")),
        time=_number(document.get("time")),
        segments=_segments(document),
        reply_to=None if reply_to is None else str(reply_to),
        mentions_bot=document.get("mentions_bot") is True,
        is_self=document.get("is_self") is True,
        send_status=str(document.get("send_status") or "received"),
        recalled=document.get("recalled") is True,
    )


def read_messages(answer: Any, scene: str) -> list[ChatMessage]:
    """Messages as the backend lists them, oldest first."""
    listed = answer.get("messages") if isinstance(answer, dict) else answer
    read = [read_message(entry, scene) for entry in listed] if isinstance(listed, list) else []
    return [message for message in read if message is not None]


def read_sent(answer: Any) -> Sent:
    """What the backend says of a send. An answer that says nothing clear is not a delivery."""
    if not isinstance(answer, dict):
        return Sent("unconfirmed", "机器人后端没有说明发送结果")
    status = str(answer.get("status") or "unconfirmed")
    if answer.get("simulated") is True:
        status = "simulated"
    if status not in SENT_STATUSES:
        return Sent("unconfirmed", f"机器人后端给出未知的发送状态 {status}")
    listed = answer.get("message_ids")
    ids = tuple(str(entry) for entry in listed) if isinstance(listed, list) else ()
    return Sent(status, str(answer.get("report") or ""), ids)


def write_parts(parts: list[Part]) -> list[dict[str, Any]]:
    """Parts in the form that the backend takes. Raises ValueError when there is nothing to send."""
    written = [_write_part(part) for part in parts]
    if not any(entry["type"] != "text" or entry["text"].strip() for entry in written):
        raise ValueError("发送内容不能为空")
    return written


def _write_part(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        data = base64.b64encode(part.data).decode("ascii")
        return {"type": "image", "data": data, "description": part.description}
    if isinstance(part, Mention):
        return {"type": "mention", "user": part.user}
    raise TypeError(f"不能发送 {type(part).__name__}，只能发送 Text、Image 或 Mention")


def _segments(document: dict[str, Any]) -> list[Segment]:
    listed = document.get("segments")
    if isinstance(listed, list):
        parts = [entry for entry in listed if isinstance(entry, dict)]
        return [Segment(str(part.get("type") or ""), dict(part.get("data") or {})) for part in parts]
    text = _first(document, "text", "content", "plain_text")
    return [Segment("text", {"text": text})] if text else []


def _first(document: dict[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = document.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value):
            return str(value)
    return None


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
