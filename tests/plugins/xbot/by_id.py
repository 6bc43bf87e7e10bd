"""A plugin of xbot for tests that takes many requests at once, by their ids."""

import json
import os
import sys
import threading
import time
from pathlib import Path

ANY = {"type": "object"}
LOCK = threading.Lock()
TOGETHER = threading.Barrier(20)


def write(line: str) -> None:
    with LOCK:
        print(line, flush=True)


def execute(request_id: int, params: dict) -> None:
    match params["toolName"]:
        case "nan":
            write(f'{{"id": {request_id}, "result": NaN}}')
        case "idless":
            write('{"result": "whose?"}')
        case "meet":
            TOGETHER.wait()
            write(json.dumps({"id": request_id, "result": "met"}))
        case "hold":
            Path("held").touch()
            while not Path("open").exists():
                time.sleep(0.01)
            write(json.dumps({"id": request_id, "result": f"{os.getpid()}"}))
            Path("answered").touch()
        case _:
            write(json.dumps({"id": request_id, "result": f"{os.getpid()}"}))


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        match request["method"]:
            case "activate":
                names = ("pid", "nan", "idless", "meet", "hold")
                tools = [{"name": name, "description": name, "inputSchema": ANY} for name in names]
                write(json.dumps({"tools": tools, "requestIds": True}))
            case "execute_tool":
                threading.Thread(target=execute, args=(request["id"], request["params"]), daemon=True).start()
            case "cancel":
                with Path("cancelled").open("a") as file:
                    file.write(f"{request['params']['id']}\n")
            case "deactivate":
                write(json.dumps({"id": request["id"]}))


if __name__ == "__main__":
    main()
