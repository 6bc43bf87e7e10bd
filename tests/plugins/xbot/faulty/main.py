"""Tools without a description and with fields that have no limits."""

import json
import sys

FIELDS = {
    "text": {"type": "string", "description": "anything"},
    "count": {"type": "integer", "minimum": 1, "description": "how many"},
    "tags": {"type": "array", "items": {"type": "string", "maxLength": 9}, "description": "some"},
    "right": {"type": "string", "enum": ["a"], "description": "one"},
}
TOOLS = [
    {"name": "wordless", "description": ""},
    {"name": "unbounded", "description": "Takes anything.", "inputSchema": {"type": "object", "properties": FIELDS}},
]

for line in sys.stdin:
    if json.loads(line)["method"] == "activate":
        print(json.dumps({"tools": TOOLS}), flush=True)
    else:
        print(json.dumps({"result": ""}), flush=True)
