"""The decorators by which a plugin declares what it offers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])

_MARK = "__toolyard_lenbot__"
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Mark:
    """One declaration: a tool, or an entry of another kind that is accepted and reported."""

    kind: str
    name: str
    description: str = ""
    summary: str | None = None
    needs_source: bool = False
    options: dict[str, Any] = field(default_factory=dict)


def tool(
    name: str, description: str, *, summary: str | None = None, needs_source: bool = False
) -> Callable[[Handler], Handler]:
    """Offers the method to the model."""
    if not isinstance(name, str) or _TOOL_NAME.fullmatch(name) is None:
        raise ValueError("工具名只能使用字母、数字、下划线和连字符，最长 64")
    if not isinstance(description, str) or not description.strip():
        raise ValueError(f"工具 {name} 缺少说明")
    if summary is not None and (not isinstance(summary, str) or not summary.strip()):
        raise ValueError(f"工具 {name} 的简介不能为空")
    return _marker(Mark("tool", name, description, summary, bool(needs_source)))


def command(name: str, description: str = "", **options: Any) -> Callable[[Handler], Handler]:
    """A command that people type after a slash."""
    return _marker(Mark("command", name, description, options=options))


def fullmatch(text: str, description: str = "", **options: Any) -> Callable[[Handler], Handler]:
    """A message that is exactly this text."""
    return _marker(Mark("fullmatch", text, description, options=options))


def regex(pattern: str, description: str = "", **options: Any) -> Callable[[Handler], Handler]:
    """A message that this expression matches."""
    re.compile(pattern)
    return _marker(Mark("regex", pattern, description, options=options))


def background(every: str | float, **options: Any) -> Callable[[Handler], Handler]:
    """Work that is done again and again."""
    return _marker(Mark("background", str(every), options=options))


def cron(expression: str, **options: Any) -> Callable[[Handler], Handler]:
    """Work that is done by the clock."""
    return _marker(Mark("cron", expression, options=options))


def event(kind: str) -> Callable[..., Any]:
    """Makes a decorator for events of one kind, to be used with or without arguments."""

    def decorate(*arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and not options and callable(arguments[0]):
            return _marker(Mark(kind, kind))(arguments[0])
        return _marker(Mark(kind, str(arguments[0]) if arguments else kind, options=options))

    return decorate


on_message = event("message")
on_notice = event("notice")
on_event = event("event")
on_request = event("request")


def mark_of(handler: Any) -> Mark | None:
    """The declaration that a method carries, if any."""
    return getattr(handler, _MARK, None)


def declared(cls: type) -> list[tuple[str, Mark]]:
    """Names of the methods of a class that carry a declaration, base classes first, in their order."""
    found: dict[str, Mark] = {}
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            found.pop(name, None)
            if (mark := mark_of(member)) is not None:
                found[name] = mark
    return list(found.items())


def _marker(mark: Mark) -> Callable[[Handler], Handler]:
    def attach(handler: Handler) -> Handler:
        if (present := mark_of(handler)) is not None:
            raise ValueError(f"一个方法只能使用一个入口装饰器，已有 {present.kind} {present.name}")
        if not inspect.iscoroutinefunction(handler):
            raise ValueError(f"{mark.kind} {mark.name} 的处理函数必须是 async 方法")
        setattr(handler, _MARK, mark)
        return handler

    return attach
