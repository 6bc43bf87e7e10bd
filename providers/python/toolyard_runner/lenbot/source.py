"""Who really asked: the message behind a call, and whether its sender may ask."""

from __future__ import annotations

from typing import Any

from ..dialect import Host
from .messages import ChatMessage, read_message
from .options import Options


class NoRealRequest(ValueError):
    """The message is no real request."""


class SenderBarred(PermissionError):
    """The message's sender may ask for nothing."""


async def resolve(options: Options, host: Host, scene: str, ident: str, context: dict[str, Any]) -> ChatMessage:
    """The message with this id. Raises NoRealRequest or SenderBarred."""
    given = [context.get("source_message"), context.get("message"), *(context.get("messages") or [])]
    found = [message for message in (read_message(entry, scene) for entry in given) if _is(message, scene, ident)]
    if not found and options.source_scope == "scene":
        answer = await host.capability("lenbot.message", {"scene": scene, "message_id": ident})
        found = [message for message in [read_message(answer, scene)] if _is(message, scene, ident)]
    # What is said last of a message holds: it may have been recalled since.
    if not found or not all(_is_request(options, message) for message in found):
        raise NoRealRequest(f"source_message_id 不是当前场景的真实请求消息：{ident}")
    message = found[-1]
    if identities(message) & options.blacklist:
        raise SenderBarred(f"请求消息的发送者在黑名单中：{message.sender.uid}")
    return message


def check_owner(options: Options, host: Host, scene: str, message: ChatMessage | None) -> None:
    """Raises PermissionError unless an owner of the bot sent the message."""
    if message is None or message.is_self:
        raise PermissionError("此操作需要真实请求消息")
    _check_owner(options, host, scene, identities(message), message.sender.uid)


def check_owner_id(options: Options, host: Host, scene: str, uid: str) -> None:
    """Raises PermissionError unless this is the id of an owner of the bot, as it is configured."""
    _check_owner(options, host, scene, frozenset({uid}) if uid else frozenset(), uid)


def _check_owner(options: Options, host: Host, scene: str, names: frozenset[str], uid: str) -> None:
    if not options.is_enabled_in(scene):
        raise PermissionError(f"场景 {scene} 未配置")
    if names & options.blacklist:
        raise PermissionError(f"请求消息的发送者在黑名单中：{uid}")
    owners = options.owners
    if owners is None:
        answer = host.capability_now("lenbot.owners", {"scene": scene})
        owners = frozenset(str(owner) for owner in answer) if isinstance(answer, list) else frozenset()
    if not names & owners:
        raise PermissionError("此操作只接受主人的请求")


def identities(message: ChatMessage) -> frozenset[str]:
    """How the sender may be named in a configuration: with the platform, and as the backend has it."""
    uid = message.sender.uid
    return frozenset({uid} if ":" in uid else {uid, f"{message.platform}:{uid}"})


def _is(message: ChatMessage | None, scene: str, ident: str) -> bool:
    return message is not None and message.scene == scene and message.platform_message_id == ident


def _is_request(options: Options, message: ChatMessage) -> bool:
    names = identities(message)
    is_bot = message.is_self or options.bot_id in names or bool(names & options.other_bots)
    return not is_bot and not message.recalled and message.send_status == "received"
