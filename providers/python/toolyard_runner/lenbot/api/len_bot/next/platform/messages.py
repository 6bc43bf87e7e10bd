"""Earlier place of the message types."""

from toolyard_runner.lenbot.messages import ChatMessage, Segment, Sender

__all__ = ["ChatMessage", "Segment", "Sender"]
