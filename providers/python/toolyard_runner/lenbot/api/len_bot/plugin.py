"""What plugins import."""

from toolyard_runner.lenbot.context import Invocation, PluginContext
from toolyard_runner.lenbot.declaration import (
    background,
    command,
    cron,
    fullmatch,
    on_event,
    on_message,
    on_notice,
    on_request,
    regex,
    tool,
)
from toolyard_runner.lenbot.messages import ChatMessage, Image, Mention, Notice, Segment, Sender, Sent, Text
from toolyard_runner.lenbot.plugin import Plugin

__all__ = [
    "ChatMessage",
    "Image",
    "Invocation",
    "Mention",
    "Notice",
    "Plugin",
    "PluginContext",
    "Segment",
    "Sender",
    "Sent",
    "Text",
    "background",
    "command",
    "cron",
    "fullmatch",
    "on_event",
    "on_message",
    "on_notice",
    "on_request",
    "regex",
    "tool",
]
