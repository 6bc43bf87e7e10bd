"""What a plugin may do to its host, by mistake or on purpose."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from . import frames


async def do(plugin, deed, value=None):
    """Does one of them."""
    return await globals()[f"do_{deed}"](plugin, value)


# === harmless ===


async def do_answer(plugin, value):
    return {"value": value}


async def do_pid(plugin, value):
    return {"value": os.getpid()}


async def do_slow(plugin, value):
    await asyncio.sleep(value)
    return {"value": "slept"}


async def do_hold(plugin, value):
    """Runs until it is let go: says so by `held` in this folder, and goes on once `open` is there."""
    gate = Path(value)
    (gate / "held").touch()
    while not (gate / "open").exists():
        await asyncio.sleep(0.01)
    return {"value": "let go"}


async def do_meet(plugin, value):
    """Waits for so many processes that do the same in this folder; without a loop."""
    folder, count = value
    (Path(folder) / str(os.getpid())).touch()
    while len(os.listdir(folder)) < count:
        time.sleep(0.01)


async def do_updates(plugin, value):
    return {"value": plugin.updates}


async def do_pending(plugin, value):
    """What the runner still has to do, without the call that asks."""
    session = frames.session()
    counts = [session._calls, session._cancelled, session._unstarted, session._requests]
    return {"value": sum(map(len, counts)) - 1, "tasks": len(asyncio.all_tasks())}


# === noise ===


async def do_noise(plugin, value):
    """Endless output on both streams; from a process of its own, so that it is fast."""
    text = "x" * 1000 + ("\n" if value == "lines" else "")
    writer = "import os, sys\nwhile True: os.write(int(sys.argv[1]), sys.argv[2].encode() * 60)"
    for stream in (1, 2):
        subprocess.Popen([sys.executable, "-c", writer, str(stream), text])
    return {"value": "begun"}


async def do_log(plugin, value):
    def flood():
        while True:
            logging.getLogger("flood").warning("x" * 100_000)

    threading.Thread(target=flood, daemon=True).start()
    return {"value": "begun"}


# === results ===


async def do_give(plugin, value):
    if value == "nan":
        return {"value": [1, float("nan")]}
    if value == "set":
        return {"value": {1, 2}}
    if value == "large":
        return {"value": "x" * (20 << 20)}
    deep = "leaf"
    for _ in range({"deep": 150, "deeper": 900, "deepest": 200_000}[value]):
        deep = [deep]
    return {"value": deep}


async def do_raise(plugin, value):
    class Odd(BaseException):
        def __str__(self):
            if value == "mute":
                raise RuntimeError("no words")
            return "an odd one"

    raise Odd


# === frames ===


async def do_frame(plugin, value):
    """Writes to the runner's own connection, then waits for what comes of it."""
    frames.WRITERS[value]()
    await asyncio.sleep(3600)


async def do_forge(plugin, value):
    for call in range(1, 200):
        frames.write(b'{"type":"result","id":%d,"value":{"value":{"value":"forged"},"text":""}}' % call)
    await asyncio.sleep(3600)


async def do_raw_logs(plugin, value):
    line = b'{"type":"log","level":"error","logger":"flood","message":"%s"}' % (b"x" * 1000)
    for _ in range(20_000):
        frames.write(line)
    return {"value": "written"}


async def do_deaf(plugin, value):
    asyncio.get_running_loop().remove_reader(frames.session()._link._sock)
    return await do_hold(plugin, value)


# === processes ===


async def do_forks(plugin, value):
    """At most so many, so that a failing test does no harm."""
    made = 0
    for _ in range(value):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)
        made += 1
    return {"value": made}


async def do_memory(plugin, value):
    held = []
    while len(held) < value:
        held.append(b"x" * (1 << 20))
    return {"value": len(held)}


async def do_grandchild(plugin, value):
    return {"value": subprocess.Popen(["sleep", "600"], start_new_session=True).pid}


async def do_twin(plugin, value):
    """A process outside the group that holds the connection."""
    if (child := os.fork()) == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    return {"value": child}


async def do_leave(plugin, value):
    os._exit(5)


async def do_exit(plugin, value):
    sys.exit(6)


async def do_kill(plugin, value):
    os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.sleep(3600)


async def do_fail(plugin, value):
    raise ImportError("no module of this kind")


# === time ===


async def do_block(plugin, value):
    time.sleep(3600)


async def do_stubborn(plugin, value):
    """Goes on after it was cancelled: until it is let go, or for ever."""
    work = asyncio.ensure_future(do_hold(plugin, value) if value else asyncio.sleep(3600))
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            pass
    return {"value": "late"}


# === capabilities ===


async def do_ask(plugin, value):
    """Asks so many times at once; counts what comes back, and by its kind."""
    count, text = value

    async def once():
        try:
            return await plugin.ctx.send.text(text, "s")
        except Exception as error:
            return error
        finally:
            plugin.heard += 1

    kinds = {}
    for answer in await asyncio.gather(*(once() for _ in range(count))):
        said = str(answer)
        kind = said[1 : said.index("]")] if said.startswith("[") else said
        kinds[kind] = kinds.get(kind, 0) + 1
    return {"value": kinds}


async def do_heard(plugin, value):
    return {"value": plugin.heard}
