"""A plugin of xbot for tests: one request at a time, and every way to answer it rightly or wrongly."""

import json
import os
import sys
import time
from pathlib import Path

ANY = {"type": "object", "properties": {"text": {"type": "string"}, "seconds": {"type": "number"}}}


def write(line: str) -> None:
    print(line, flush=True)


def answer(**members: object) -> None:
    write(json.dumps(members))


def echo(given: dict, _params: dict) -> None:
    answer(result=f"echo: {given.get('text', '')}")


def context(_given: dict, params: dict) -> None:
    answer(result=json.dumps(params))


def hold(_given: dict, _params: dict) -> None:
    """Says that it runs by `held`, and goes on once `open` is there."""
    Path("held").touch()
    while not Path("open").exists():
        time.sleep(0.01)
    answer(result="let go")


def pid(_given: dict, _params: dict) -> None:
    answer(result=str(os.getpid()))


def failing(_given: dict, _params: dict) -> None:
    answer(error="no such city")


def whole(_given: dict, _params: dict) -> None:
    answer(result={"content": "disk full", "is_error": True, "metadata": {"code": "7"}})


def structured(_given: dict, _params: dict) -> None:
    write('{"result":{"id":653247040368672768123456789}}')


def chatty(_given: dict, _params: dict) -> None:
    write("loading the model ...")
    sys.stdout.buffer.write(b"\xc4\xe3\xba\xc3\n")
    write('{"type":"web_ui","ui":[]}')
    answer(result="done")


def half(_given: dict, _params: dict) -> None:
    answer(result={"content": "half \ud800", "metadata": {"k": "\udc00"}})


def nan(_given: dict, _params: dict) -> None:
    answer(result=float("nan"))


def bad_utf8(_given: dict, _params: dict) -> None:
    sys.stdout.buffer.write(b'{"result":"\xff"}\n')
    sys.stdout.flush()


def huge(_given: dict, _params: dict) -> None:
    answer(result="x" * (2 << 20))


def broken(_given: dict, _params: dict) -> None:
    write('{"resu')


def wrong_key(_given: dict, _params: dict) -> None:
    answer(output="x")


def twice(_given: dict, _params: dict) -> None:
    write('{"result":"first"}\n{"result":"second"}')


def flood(_given: dict, _params: dict) -> None:
    while True:
        write("x" * 4000)


def endless(_given: dict, _params: dict) -> None:
    while True:
        sys.stdout.write("x" * 65536)


def noisy(_given: dict, _params: dict) -> None:
    for _ in range(20):
        sys.stderr.write("x" * (1 << 20))
    answer(result="heard")


def dying(_given: dict, _params: dict) -> None:
    sys.stderr.write(f"cannot log in with {os.environ.get('PASSWORD')}\n")
    sys.stderr.flush()
    os._exit(3)


TOOLS = [
    echo, context, hold, pid, failing, whole, structured, chatty, half, nan, bad_utf8, huge, broken, wrong_key, twice,
    flood, endless, noisy, dying,
]  # fmt: skip


def activate() -> None:
    with Path("pids").open("a") as file:
        file.write(f"{os.getpid()}\n")
    tools = [{"name": tool.__name__, "description": f"Does {tool.__name__}.", "inputSchema": ANY} for tool in TOOLS]
    parameters = [{"name": "text", "type": "string", "description": "What to say.", "required": True}]
    tools[0] = {"name": "echo", "description": "Says it again.", "parameters": parameters, "streming": True}
    tools[1] = {"name": "context", "description": "Shows its context.", "input_schema": ANY}
    tools[TOOLS.index(half)]["description"] = "Says half of \ud83d."
    answer(tools=[*tools, {"description": "nameless"}], hooks=[{"event": "PostToolUse"}])


def main() -> None:
    print("plain plugin, version 1", flush=True)
    by_name = {tool.__name__: tool for tool in TOOLS}
    for line in sys.stdin:
        request = json.loads(line)
        params = request.get("params", {})
        match request["method"]:
            case "activate":
                activate()
            case "deactivate":
                if os.environ.get("STUBBORN"):
                    time.sleep(1000)
                Path("deactivated").touch()
                answer()
            case "execute_tool":
                by_name[params["toolName"]](json.loads(params["input"]), params)


if __name__ == "__main__":
    main()
