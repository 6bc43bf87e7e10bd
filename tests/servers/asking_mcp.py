"""An MCP server over stdio that asks its client, reports, logs, and remembers what was cancelled."""

import json
import sys
import threading
import time

TEXT = {"type": "object", "properties": {}, "additionalProperties": True}
TOOLS = [
    {"name": "echo", "description": "Gives its arguments back.", "inputSchema": TEXT, "x-unknown": {"n": [1, 2]}},
    {"name": "ask", "description": "Asks the user.", "inputSchema": TEXT},
    {"name": "sample", "description": "Asks the client's model.", "inputSchema": TEXT},
    {"name": "steps", "description": "Reports progress.", "inputSchema": TEXT},
    {"name": "slow", "description": "Waits to be cancelled.", "inputSchema": TEXT},
    {"name": "cancelled", "description": "How many calls were cancelled, of how many slow ones.", "inputSchema": TEXT},
    {"name": "log", "description": "Writes two lines into the log.", "inputSchema": TEXT},
    {"name": "odd", "description": "Gives a result with unknown parts.", "inputSchema": TEXT},
    {"name": "refuse", "description": "Answers with an error.", "inputSchema": TEXT},
    {"name": "more", "description": "Offers one tool more.", "inputSchema": TEXT},
]
FORM = {
    "message": "What is your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
WORDS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say yes."}}], "maxTokens": 10}
ODD = (
    '{"content":[{"type":"text","text":"odd","x":12345678901234567890123}],'
    '"structuredContent":{"big":12345678901234567890123},"_meta":{"a/b":[1]},"y":null}'
)

writing = threading.Lock()
answers: dict[str, "threading.Event"] = {}
results: dict[str, object] = {}
cancelled: set[str] = set()
running: dict[str, "threading.Event"] = {}


def say(text: str) -> None:
    """Writes one line."""
    with writing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(**message: object) -> None:
    """Writes one message."""
    say(json.dumps({"jsonrpc": "2.0", **message}))


def text(words: str) -> dict:
    """A result with one text."""
    return {"content": [{"type": "text", "text": words}]}


def ask(method: str, params: dict, call: object) -> object:
    """Asks the client and waits for its answer."""
    key = f"q{call}"
    answers[key] = threading.Event()
    send(id=key, method=method, params=params)
    answers[key].wait(20)
    return results.get(key)


def run(call: object, params: dict) -> None:
    """Runs one call, in a thread of its own."""
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if name == "odd":
        return say('{"jsonrpc":"2.0","id":' + json.dumps(call) + ',"result":' + ODD + "}")
    if name == "refuse":
        return send(id=call, error={"code": -32042, "message": "not today", "data": {"until": "tomorrow"}})
    if name == "ask":
        result = text(json.dumps(ask("elicitation/create", FORM, call)))
    elif name == "sample":
        result = text(json.dumps(ask("sampling/createMessage", WORDS, call)))
    elif name == "steps":
        for done in (1, 2, 2, 3):
            if token is not None:
                params = {"progressToken": token, "progress": done, "total": 3, "message": f"step {done}"}
                send(method="notifications/progress", params=params)
                # Some clients forget reports that come together with the result.
                time.sleep(0.05)
        result = text("done")
    elif name == "slow":
        running[str(call)] = threading.Event()
        if running[str(call)].wait(30):
            return None
        result = text("never cancelled")
    elif name == "cancelled":
        result = text(f"{len(cancelled)} of {len(running)}")
    elif name == "log":
        for level in ("debug", "error"):
            send(method="notifications/message", params={"level": level, "logger": "asking", "data": level})
        result = text("logged")
    elif name == "more":
        TOOLS.append({"name": "extra", "description": "One more.", "inputSchema": TEXT})
        send(method="notifications/tools/list_changed")
        result = text("more")
    else:
        result = text(json.dumps(arguments))
    return send(id=call, result=result)


def other(method: str, params: dict) -> dict | None:
    """What is no call."""
    if method == "initialize":
        capabilities = {
            "tools": {"listChanged": True},
            "prompts": {},
            "resources": {"subscribe": True},
            "completions": {},
            "logging": {},
        }
        info = {"name": "asking", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "arguments": [{"name": "who"}], "z": 1}]}
    if method == "prompts/get" and params["name"] == "greet":
        words = f"Greet {params.get('arguments', {}).get('who', 'all')}."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
    if method == "resources/list":
        return {"resources": [{"uri": "asking://notes", "name": "notes"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "asking://note/{n}", "name": "note"}]}
    if method == "resources/read" and params["uri"].startswith("asking://note"):
        return {"contents": [{"uri": params["uri"], "text": "a note"}]}
    if method == "resources/subscribe":
        send(method="notifications/resources/updated", params={"uri": params["uri"]})
        return {}
    if method == "completion/complete":
        return {"completion": {"values": [params["argument"]["value"] + "!"]}}
    if method in ("ping", "resources/unsubscribe", "logging/setLevel"):
        return {}
    return None


def main() -> None:
    """Serves until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        method, params, key = message.get("method"), message.get("params") or {}, message.get("id")
        if method is None:
            results[str(key)] = message.get("result", message.get("error"))
            if str(key) in answers:
                answers[str(key)].set()
        elif method == "notifications/cancelled":
            cancelled.add(str(params.get("requestId")))
            if str(params.get("requestId")) in running:
                running[str(params.get("requestId"))].set()
        elif method == "tools/call":
            threading.Thread(target=run, args=(key, params), daemon=True).start()
        elif key is not None:
            result = other(method, params)
            if result is None:
                send(id=key, error={"code": -32601, "message": f"no {method}"})
            else:
                send(id=key, result=result)


main()
