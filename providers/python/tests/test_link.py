"""Frames as they come over the socket."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import unittest

from toolyard_runner.link import Broken, Link, Message


def frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


class LinkTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.host, ours = socket.socketpair()
        self.host.setblocking(False)
        self.received: list[Message] = []
        self.errors: list[BaseException | None] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.errors.append(context["exception"]))
        self.link = Link(ours, 1 << 20, self.received.append, lambda: None)
        self.addCleanup(ours.close)
        self.addCleanup(self.host.close)
        self.addCleanup(asyncio.get_running_loop().remove_reader, ours)

    async def write(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.host, data)
        for _ in range(5):
            await asyncio.sleep(0)

    async def test_frames_are_whole_however_they_come(self) -> None:
        first, second, third = ({"n": number, "text": "é字"} for number in range(3))
        pieces = b"".join(frame(json.dumps(message, ensure_ascii=False).encode()) for message in (first, second, third))
        for end in (3, 4, 30, len(pieces)):
            await self.write(pieces[:end])
            pieces = pieces[end:]
        self.assertEqual(self.received, [first, second, third])

    async def test_a_frame_may_be_larger_than_what_is_read_at_once(self) -> None:
        message = {"text": "x" * 900_000}
        await self.write(frame(json.dumps(message).encode()))
        while not self.received:
            await asyncio.sleep(0.001)
        self.assertEqual(self.received, [message])

    async def test_what_cannot_be_read_costs_its_call_only(self) -> None:
        digits = b"9" * 200_000
        await self.write(frame(b'{"type":"call","id":7,"arguments":{"n":' + digits + b'}}') + frame(b'{"n":1}'))
        await self.write(frame(b'{"type":"call","id":8,"arguments":"\xff"}'))
        self.assertEqual([message.get("type") for message in self.received], ["unreadable", None, "unreadable"])
        self.assertEqual([message.get("id") for message in self.received], [7, None, 8])
        await self.write(frame(b"\xff"))
        self.assertIsInstance(self.errors[0], Broken)


if __name__ == "__main__":
    unittest.main()
