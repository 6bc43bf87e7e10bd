"""The runner's connection, as a plugin can find it, and what may be written to it."""

import functools
import gc
import os
import select
import socket
import struct


def session():
    """The runner's own session."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Session" and hasattr(thing, "_calls"))


@functools.cache
def connection():
    """The socket whose other end another process made."""
    for name in os.listdir("/proc/self/fd"):
        try:
            sock = socket.socket(fileno=os.dup(int(name)))
            maker, _, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        except OSError:
            continue
        if maker not in (0, os.getpid()):
            return sock
    raise LookupError("there is no connection")


def write_bytes(data):
    """All of them; the socket does not block."""
    sock, left = connection(), memoryview(data)
    while left:
        select.select([], [sock], [])
        left = left[sock.send(left) :]


def write(body):
    write_bytes(struct.pack(">I", len(body)) + body)


def close():
    connection().shutdown(socket.SHUT_RDWR)


WRITERS = {
    "length": lambda: write_bytes(b"\xff\xff\xff\xff"),
    "large": lambda: write(b'{"type":"log","message":"' + b"x" * (17 << 20) + b'"}'),
    "garbage": lambda: write(b"\x00\xff not JSON"),
    "array": lambda: write(b"[]"),
    "empty": lambda: write(b""),
    "type": lambda: write(b'{"type":"dance"}'),
    "field": lambda: write(b'{"type":"result"}'),
    "hello": lambda: write(b'{"type":"hello","protocol":1,"token":"x"}'),
    "shifted": lambda: write_bytes(b"\x00"),
    "deep": lambda: write(b'{"type":"changed","plugin":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "close": close,
}
