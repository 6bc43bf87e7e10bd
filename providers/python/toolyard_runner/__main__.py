"""`python -m toolyard_runner`, started by Toolyard with a socket as standard input."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import sys

from .link import Broken
from .session import Session

# Longer integers cost quadratic time to read; a call that has one fails by itself.
_MAX_DIGITS = 100_000


def main() -> int:
    """Runs until the plugin is unloaded or the host is gone."""
    token = os.environ.pop("TOOLYARD_RUNNER_TOKEN", "")
    max_frame = int(os.environ.pop("TOOLYARD_RUNNER_MAX_FRAME", str(16 << 20)))
    if not stat.S_ISSOCK(os.fstat(0).st_mode):
        sys.stderr.write("toolyard_runner is started by Toolyard, with a socket as standard input\n")
        return 2
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(_MAX_DIGITS)
    asyncio.run(_run(_take_socket(), token, max_frame))
    return 0


def _take_socket() -> socket.socket:
    """Takes the socket out of the plugin's reach: it must find nothing to read, and nothing to write to but a log."""
    sock = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return sock


async def _run(sock: socket.socket, token: str, max_frame: int) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_stop_when_broken)
    await Session(sock, token, max_frame).run()


def _stop_when_broken(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    if isinstance(context.get("exception"), Broken):
        sys.stderr.write(f"toolyard_runner: {context['exception']}\n")
        os._exit(3)
    loop.default_exception_handler(context)


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Threads that a plugin left behind must not hold the process up.
    os._exit(status)
