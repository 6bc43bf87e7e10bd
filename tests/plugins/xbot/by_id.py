"""A plugin of xbot for tests that takes many requests at once, by their ids."""

import json
import os
import sys
import threading
import time
from pathlib import Path

ANY = {"type": "object", "properties": {"seconds": {"type": "number"}}}
LOCK = threading.Lock()


def write(line: str) -> None:
    with LOCK:
        print(line, flush=True)


def execute(request_id: int, params: dict) -> None:
    given = json.loads(params["input"])
    time.sleep(given.get("seconds", 0))
    match params["toolName"]:
        case "nan":
            write(f'{{"id": {request_id}, "result": NaN}}')
        case "idless":
            write('{"result": "whose?"}')
        case _:
            write(json.dumps({"id": request_id, "result": f"{os.getpid()}"}))


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        match request["method"]:
            case "activate":
                tools = [{"name": name, "description": name, "inputSchema": ANY} for name in ("pid", "nan", "idless")]
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
