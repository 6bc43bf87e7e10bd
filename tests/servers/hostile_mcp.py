"""An MCP server over standard input and output that does its worst, one tool or option for each."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
LOCK = threading.Lock()
OBJECT = {"type": "object"}


def send_bytes(line: bytes) -> None:
    """Writes one line, whatever it is."""
    with LOCK:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def send(message: Json) -> None:
    """Sends one message."""
    send_bytes(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode())


def answer(request: Json, text: str) -> None:
    """Answers a call with text."""
    send({"id": request["id"], "result": {"content": [{"type": "text", "text": text}]}})


def later(seconds: float, action: Callable[[], None]) -> None:
    """Does something after a while."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()


def raw_result(request: Json, result: str) -> bytes:
    """An answer with a result that need not be JSON."""
    return b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (request["id"], result.encode())


class Server:
    """The server, as its options want it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.tools: dict[str, Callable[[Json, Json], None]] = {
            "echo": lambda request, arguments: answer(request, str(arguments.get("text", "hello"))),
            "sleep": lambda request, arguments: later(arguments["ms"] / 1000, lambda: answer(request, "slept")),
            "never": lambda request, arguments: None,
            "twice": self.twice,
            "nan": lambda request, _: send_bytes(raw_result(request, '{"content":[],"structuredContent":NaN}')),
            "bad_utf8": self.bad_utf8,
            "oversize": self.oversize,
            "id_last": self.id_last,
            "cut_off": lambda request, _: send_bytes(raw_result(request, '{"content":[]}')[:-4]),
            "not_a_result": lambda request, _: send_bytes(raw_result(request, "[]")),
            "neither": lambda request, _: send({"id": request["id"]}),
            "exit": self.exit,
            "close": lambda request, _: os.close(1),
            "noise": self.noise,
            "flood": self.flood,
            "progress": self.progress,
            "deaf": self.deaf,
            "change": self.change,
        }
        self.listings = 0

    def serve(self) -> None:
        """Reads until the end."""
        sys.stderr.buffer.write(b"e" * (self.options.stderr_mib << 20))
        sys.stderr.buffer.write(b"\nTOKEN is s3cret-value\n")
        sys.stderr.buffer.flush()
        if self.options.greeting:
            send_bytes(b"\xc4\xe3\xba\xc3")
            send_bytes(b"Listening on stdio...")
            send_bytes(b'{"level": "info", "id": 1}')
        for line in sys.stdin.buffer:
            self.take(json.loads(line))

    def take(self, message: Json) -> None:
        """Takes one message."""
        self.remember(message)
        method = message.get("method")
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "hostile", "version": "1"}}
            send({"id": message["id"], "result": {**result, "capabilities": {"tools": {"listChanged": True}}}})
        elif method == "tools/list":
            self.list(message)
        elif method == "tools/call":
            self.tools[message["params"]["name"]](message, message["params"].get("arguments", {}))
        elif method == "notifications/cancelled" and self.options.answers_cancelled:
            answer({"id": message["params"]["requestId"]}, "too late")
        elif method and "id" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})

    def remember(self, message: Json) -> None:
        """Writes down what was heard, for the test to read."""
        if self.options.heard:
            with self.options.heard.open("a", encoding="utf-8") as file:
                file.write(json.dumps(message) + "\n")

    def list(self, request: Json) -> None:
        """Lists the tools, in one of many ways."""
        self.listings += 1
        tools: list[Any] = [{"name": name, "inputSchema": OBJECT} for name in self.tools]
        result: Json = {"tools": tools}
        match self.options.listing:
            case "never":
                return
            case "circle":
                result["nextCursor"] = "again"
            case "endless":
                cursor = int(request["params"].get("cursor", "0"))
                result = {"tools": [{"name": f"t{cursor}", "inputSchema": OBJECT}], "nextCursor": str(cursor + 1)}
            case "bad_tools":
                extra = {"x-unknown": {"deep": [1, 2]}, "execution": {"taskSupport": "optional"}}
                tools.append({"name": "extra", "inputSchema": {**OBJECT, "x-unit": "m"}, **extra})
                tools += [7, {"inputSchema": OBJECT}, {"name": "none"}, {"name": "boolean", "inputSchema": True}]
                tools.append({"name": "meta", "inputSchema": OBJECT, "_meta": {"visibility": "visible"}})
            case "race" if self.listings == 2:
                send({"method": "notifications/tools/list_changed"})
                time.sleep(0.1)
                result = {"tools": [{"name": "old", "inputSchema": OBJECT}]}
            case "race" if self.listings > 2:
                result = {"tools": [{"name": "new", "inputSchema": OBJECT}]}
        send({"id": request["id"], "result": result})

    def twice(self, request: Json, _arguments: Json) -> None:
        """Answers twice, and one that nobody asked for."""
        answer(request, "first")
        answer(request, "second")
        answer({"id": 999_999}, "nobody's")

    def bad_utf8(self, request: Json, _arguments: Json) -> None:
        """Answers in GBK."""
        send_bytes(raw_result(request, '{"content":[{"type":"text","text":"@"}]}').replace(b"@", b"\xc4\xe3\xba\xc3"))

    def oversize(self, request: Json, arguments: Json) -> None:
        """Answers with more than anybody wants."""
        text = "x" * (arguments["mib"] << 20)
        send_bytes(raw_result(request, '{"content":[{"type":"text","text":"' + text + '"}]}'))

    def id_last(self, request: Json, arguments: Json) -> None:
        """The same, saying last whose answer it is."""
        text = "x" * (arguments["mib"] << 20)
        result = '{"result":{"content":[{"type":"text","text":"' + text + '"}]},"jsonrpc":"2.0","id":'
        send_bytes(result.encode() + b"%d}" % request["id"])

    def exit(self, _request: Json, _arguments: Json) -> None:
        """Dies with a reason."""
        sys.stderr.write("out of luck, TOKEN s3cret-value\n")
        sys.stderr.flush()
        os._exit(3)

    def noise(self, request: Json, _arguments: Json) -> None:
        """Says a lot that is no message before it answers."""
        for line in (b"", b"hello", b"\xc4\xe3\xba\xc3", b"\xff" * 1000, b"{broken", b"[1,2", b"{}", b"null", b"[]"):
            send_bytes(line)
        send_bytes(b"\x00" * (1 << 20))
        answer(request, "after the noise")

    def flood(self, request: Json, arguments: Json) -> None:
        """Sends notifications and requests as fast as it can before it answers."""
        for number in range(arguments["count"]):
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}})
            send({"method": "notifications/nobody/knows", "params": {}})
            send({"method": "ping", "id": f"p{number}"})
            send({"method": "elicitation/create", "id": f"e{number}", "params": {}})
            send({"method": "notifications/progress", "params": {"progressToken": number, "progress": "much"}})
        answer(request, "after the flood")

    def progress(self, request: Json, arguments: Json) -> None:
        """Reports progress before it answers, and after."""
        token = request["params"]["_meta"]["progressToken"]

        def report(done: float) -> None:
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": done}})

        def run() -> None:
            for step in range(arguments["steps"]):
                report(step + 1)
                time.sleep(arguments["ms"] / 1000)
            answer(request, "done")
            report(arguments["steps"] + 1)

        later(0, run)

    def deaf(self, _request: Json, arguments: Json) -> None:
        """Reads nothing for a while."""
        time.sleep(arguments["ms"] / 1000)

    def change(self, request: Json, _arguments: Json) -> None:
        """Says that its tools have changed."""
        send({"method": "notifications/tools/list_changed"})
        answer(request, "changed")


def main() -> None:
    """Reads the options and serves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stderr-mib", type=int, default=0)
    parser.add_argument("--greeting", action="store_true")
    parser.add_argument("--answers-cancelled", action="store_true")
    parser.add_argument("--listing", default="plain")
    parser.add_argument("--heard", type=Path)
    Server(parser.parse_args()).serve()


if __name__ == "__main__":
    main()
