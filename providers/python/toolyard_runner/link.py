"""Frames over the socket to the host: a length of four bytes, big-endian, and a JSON object."""

from __future__ import annotations

import asyncio
import json
import re
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

_LENGTH = struct.Struct(">I")
_READ = 256 << 10
_CALL_ID = re.compile(rb'^\{"type":"call","id":(\d+),')


class Broken(Exception):
    """The other side does not speak the protocol."""


class Link:
    """Reads and writes on the loop's own thread; what comes is handed to `receive`, the end to `gone`."""

    def __init__(
        self, sock: socket.socket, max_frame: int, receive: Callable[[Message], None], gone: Callable[[], None]
    ) -> None:
        sock.setblocking(False)
        self.max_frame = max_frame
        self._sock = sock
        self._receive = receive
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        # Read into again and again: memory for as much would be mapped anew for each frame, which costs more than the rest.
        self._buffer = memoryview(bytearray(_READ))
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self._is_flushing = False
        self._backlog: deque[Message] = deque()
        self._loop.add_reader(sock, self._read)

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller runs on the loop's thread."""
        return threading.get_ident() == self._thread

    @property
    def waiting_bytes(self) -> int:
        """Bytes that the host has not taken yet."""
        return len(self._outgoing)

    def send(self, body: bytes) -> None:
        """Queues one frame; frames of one turn of the loop go out together."""
        self._outgoing += _LENGTH.pack(len(body))
        self._outgoing += body
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush)

    def exchange(
        self, body: bytes, wanted: Callable[[Message], bool], answer_ping: Callable[[Message], None], timeout: float
    ) -> Message | None:
        """Sends one frame and blocks the loop until the wanted one comes. What comes before it is handled later."""
        self.send(body)
        deadline = time.monotonic() + timeout
        found: Message | None = None
        while found is None:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            writers = [self._sock] if self._outgoing else []
            readable, writable, _ = select.select([self._sock], writers, [], left)
            if writable:
                self._write()
            if readable and not self._fill():
                self._gone()
                break
            for message in self._frames():
                if found is None and wanted(message):
                    found = message
                elif message.get("type") == "ping":
                    answer_ping(message)
                else:
                    self._backlog.append(message)
        if self._backlog:
            self._loop.call_soon(self._work_off)
        return found

    def finish(self, timeout: float) -> None:
        """Blocks until everything is written."""
        deadline = time.monotonic() + timeout
        while self._outgoing and (left := deadline - time.monotonic()) > 0:
            select.select([], [self._sock], [], left)
            self._write()

    def _read(self) -> None:
        if not self._fill():
            self._loop.remove_reader(self._sock)
            self._gone()
            return
        try:
            self._work_off()
            for message in self._frames():
                self._receive(message)
        except Exception as error:
            # A plugin can break what reading needs; a runner that reads nothing would keep every caller waiting.
            raise Broken(f"frames cannot be read any more: {type(error).__name__}: {error}") from error

    def _work_off(self) -> None:
        while self._backlog:
            self._receive(self._backlog.popleft())

    def _fill(self) -> bool:
        try:
            count = self._sock.recv_into(self._buffer)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        self._incoming += self._buffer[:count]
        return count > 0

    def _frames(self) -> list[Message]:
        messages = []
        start, buffer = 0, self._incoming
        while len(buffer) - start >= 4:
            (length,) = _LENGTH.unpack_from(buffer, start)
            if length > self.max_frame:
                raise Broken(f"a frame of {length} bytes is over the limit of {self.max_frame}")
            end = start + 4 + length
            if len(buffer) < end:
                break
            messages.append(_decode(bytes(buffer[start + 4 : end])))
            start = end
        if start:
            del buffer[:start]
        return messages

    def _flush(self) -> None:
        self._is_flushing = False
        if self._write() and self._outgoing:
            self._loop.add_writer(self._sock, self._write_more)

    def _write_more(self) -> None:
        if not self._write() or not self._outgoing:
            self._loop.remove_writer(self._sock)

    def _write(self) -> bool:
        try:
            while self._outgoing:
                sent = self._sock.send(self._outgoing)
                del self._outgoing[:sent]
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            self._gone()
            return False
        return True


def _decode(body: bytes) -> Message:
    try:
        # As text: of bytes, it would look for the encoding first.
        return json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        # Such as an integer with more digits than Python reads: it costs its own call only.
        if found := _CALL_ID.match(body):
            return {"type": "unreadable", "id": int(found[1]), "message": str(error)}
        raise Broken(f"a frame is not JSON: {error}") from None
