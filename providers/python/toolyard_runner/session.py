"""One plugin's life: hello, load, calls, unload."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import itertools
import os
import platform
import socket
import traceback
from pathlib import Path
from typing import Any

from . import PROTOCOL, __version__, logs
from .dialect import CallError, CapabilityError, Dialect, LoadError, Plugin
from .encode import NotJson, to_bytes, to_json
from .link import Link, Message

DIALECTS = ("maibot", "lenbot")

# The host ends a request at its own deadline; this only ends one whose host does not.
_LONGEST_REQUEST = 3600.0
_LOG_ROOM = 1 << 20
_DETAIL = 4000

CALL: contextvars.ContextVar[int | None] = contextvars.ContextVar("toolyard_call", default=None)


class Session:
    """Speaks to the host; is the `Host` of the dialect."""

    def __init__(self, sock: socket.socket, token: str, max_frame: int) -> None:
        self._link = Link(sock, max_frame, self._receive, _leave)
        self._loop = asyncio.get_running_loop()
        self._dialect: Dialect | None = None
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._unstarted: set[int] = set()
        self._cancelled: set[int] = set()
        self._requests: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._forwarder: logs.Forwarder | None = None
        self._on = {
            "call": self._call,
            "cancel": self._cancel,
            "answer": self._answer,
            "refusal": self._answer,
            "ping": self._pong,
            "load": lambda message: self._spawn(self._load(message["plugin"])),
            "configure": lambda message: self._spawn(self._configure(message)),
            "unload": lambda message: self._spawn(self._unload()),
            "unreadable": lambda message: self._fail(message["id"], "arguments", message["message"]),
        }
        self._say(
            type="hello",
            protocol=PROTOCOL,
            token=token,
            runner=__version__,
            python=platform.python_version(),
            pid=os.getpid(),
        )

    async def run(self) -> None:
        """Until the plugin is unloaded."""
        await self._ended.wait()
        self._link.finish(2.0)

    # What a dialect may ask.

    async def capability(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """See `Host`."""
        ident = next(self._ids)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._requests[ident] = answer
        self._link.send(self._request(ident, name, arguments, timeout_ms))
        try:
            return await asyncio.wait_for(answer, _LONGEST_REQUEST)
        except asyncio.CancelledError:
            self._say(type="capability_cancel", id=ident)
            raise
        finally:
            self._requests.pop(ident, None)

    def capability_now(self, name: str, arguments: dict[str, Any], timeout_ms: int | None = None) -> Any:
        """See `Host`."""
        if not self._link.is_on_loop:
            asked = asyncio.run_coroutine_threadsafe(self.capability(name, arguments, timeout_ms), self._loop)
            return asked.result(_LONGEST_REQUEST)
        ident = next(self._ids)

        def is_answer(message: Message) -> bool:
            return message.get("id") == ident and message.get("type") in ("answer", "refusal")

        body = self._request(ident, name, arguments, timeout_ms)
        answer = self._link.exchange(body, is_answer, self._pong, _LONGEST_REQUEST)
        if answer is None:
            raise CapabilityError("E_TIMEOUT", f"no answer to {name}")
        return _value(answer)

    def log(self, level: str, message: str, logger: str = "") -> None:
        """See `Host`."""
        if self._forwarder is not None:
            self._forwarder.forward(level, logger, message)

    def changed(self, plugin: dict[str, Any]) -> None:
        """See `Host`."""
        self._say(type="changed", plugin=plugin)

    # What the host asks.

    def _receive(self, message: Message) -> None:
        handler = self._on.get(message.get("type", ""))
        if handler is not None:
            handler(message)

    def _call(self, message: Message) -> None:
        ident = message["id"]
        task = self._loop.create_task(self._run_call(ident, message))
        self._calls[ident] = task
        self._unstarted.add(ident)

    async def _run_call(self, ident: int, message: Message) -> None:
        CALL.set(ident)
        self._unstarted.discard(ident)
        try:
            if self._dialect is None:
                raise CallError("unloading", "the plugin is not loaded")
            value = await self._dialect.call(message["tool"], message["arguments"], message["context"])
            body = to_bytes(f'{{"type":"result","id":{ident},"value":{to_json(value)}}}')
            if len(body) > self._link.max_frame:
                raise NotJson(f"the result has {len(body)} bytes; at most {self._link.max_frame} can be sent")
            self._link.send(body)
        except asyncio.CancelledError:
            was_asked = ident in self._cancelled
            self._fail(ident, "cancelled" if was_asked else "exception", "the call was cancelled")
        except CallError as error:
            self._fail(ident, error.kind, error.message, error.detail)
        except NotJson as error:
            self._fail(ident, "not_json", str(error))
        except BaseException as error:  # noqa: BLE001 - a plugin that raises SystemExit ends its call, not its process
            self._fail(ident, "exception", _text(error), f"{type(error).__name__}\n{_trace(error)}")
        finally:
            self._calls.pop(ident, None)
            self._cancelled.discard(ident)

    def _cancel(self, message: Message) -> None:
        # A call that is not there any more has been answered: its answer is on its way.
        ident = message["id"]
        if (task := self._calls.get(ident)) is None:
            return
        self._cancelled.add(ident)
        task.cancel()
        if ident in self._unstarted:
            # A task that is cancelled before its first step never takes one, and so would never answer.
            self._unstarted.discard(ident)
            self._cancelled.discard(ident)
            self._calls.pop(ident)
            self._fail(ident, "cancelled", "the call was cancelled")

    def _answer(self, message: Message) -> None:
        waiting = self._requests.get(message["id"])
        if waiting is None or waiting.done():
            return
        try:
            waiting.set_result(_value(message))
        except CapabilityError as error:
            waiting.set_exception(error)

    def _pong(self, message: Message) -> None:
        self._say(type="pong", id=message["id"])

    async def _load(self, plugin: dict[str, Any]) -> None:
        try:
            self._forwarder = logs.install(self._log, str(plugin.get("log_level") or "info"))
            if plugin.get("dialect") not in DIALECTS:
                raise LoadError("start", f"the dialect {plugin.get('dialect')!r} is not known")
            package = importlib.import_module(f".{plugin['dialect']}", __package__)
            where = Plugin(Path(plugin["path"]), Path(plugin["data_dir"]), plugin.get("options") or {})
            dialect: Dialect = package.make(where, self)
            self._dialect = dialect
            loaded = await dialect.load()
            body = to_bytes(f'{{"type":"loaded","plugin":{to_json(loaded)}}}')
        except LoadError as error:
            self._failed(error.stage, error.message, error.detail)
        except NotJson as error:
            self._failed("describe", f"the plugin's declarations cannot be written as JSON: {error}", "")
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises while it loads is told
            self._failed("load", f"{type(error).__name__}: {_text(error)}", _trace(error))
        else:
            self._link.send(body)

    async def _configure(self, message: Message) -> None:
        error = None
        try:
            if self._dialect is None:
                raise CallError("unloading", "the plugin is not loaded")
            await self._dialect.configure(message["scope"], message.get("config"), message.get("version") or "")
        except BaseException as caught:  # noqa: BLE001 - a plugin that refuses a configuration says why
            error = _text(caught) or type(caught).__name__
        self._say(type="configured", id=message["id"], error=error)

    async def _unload(self) -> None:
        dialect, self._dialect = self._dialect, None
        if dialect is not None:
            try:
                await dialect.unload()
            except BaseException as error:  # noqa: BLE001 - it ends all the same
                self.log("warning", f"the plugin could not be unloaded: {type(error).__name__}: {_text(error)}")
        self._say(type="unloaded")
        self._ended.set()

    # How it is said.

    def _request(self, ident: int, name: str, arguments: dict[str, Any], timeout_ms: int | None) -> bytes:
        message = {
            "type": "capability",
            "id": ident,
            "call": CALL.get(),
            "name": name,
            "arguments": arguments,
            "timeout_ms": timeout_ms,
        }
        try:
            body = to_bytes(to_json(message))
        except NotJson as error:
            raise CapabilityError("E_BAD_PAYLOAD", str(error)) from None
        if len(body) > self._link.max_frame:
            raise CapabilityError("E_BAD_PAYLOAD", f"{len(body)} bytes are over the limit of {self._link.max_frame}")
        return body

    def _say(self, **message: Any) -> None:
        self._link.send(to_bytes(to_json(message)))

    def _fail(self, ident: int, kind: str, message: str, detail: str = "") -> None:
        self._say(type="error", id=ident, kind=kind, message=message[:_DETAIL], detail=detail[-_DETAIL:])

    def _failed(self, stage: str, message: str, detail: str) -> None:
        self._say(type="failed", stage=stage, message=message[:_DETAIL], detail=detail[-_DETAIL:])

    def _log(self, level: str, logger: str, message: str, dropped: int) -> None:
        if self._link.is_on_loop:
            self._write_log(level, logger, message, dropped)
        else:
            self._loop.call_soon_threadsafe(self._write_log, level, logger, message, dropped)

    def _write_log(self, level: str, logger: str, message: str, dropped: int) -> None:
        if self._link.waiting_bytes < _LOG_ROOM:
            self._say(type="log", level=level, logger=logger, message=message, dropped=dropped)

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _value(message: Message) -> Any:
    if message["type"] == "refusal":
        raise CapabilityError(message["code"], message["message"])
    return message["value"]


def _text(error: BaseException) -> str:
    """What an error says; its own code may fail at that, too."""
    try:
        return str(error)
    except BaseException as another:  # noqa: BLE001 - the call must be answered all the same
        return f"an error that cannot be written as text ({type(another).__name__})"


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001 - as above
        return ""


def _leave() -> None:
    """The host is gone: nothing that is left to do could reach anybody."""
    os._exit(0)
