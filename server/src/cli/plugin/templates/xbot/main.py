"""A plugin with one tool: a line of JSON for each request, a line for each answer, nothing else on standard output."""

import json
import random
import sys
from typing import Any

ROLL_DICE = {
    "name": "roll_dice",
    "description": "Use when the user wants to roll dice or needs a random number. Gives a whole number from 1 to sides.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "sides": {
                "type": "integer",
                "minimum": 2,
                "maximum": 1000,
                "default": 6,
                "description": "Sides of the die; default 6.",
            }
        },
        "additionalProperties": False,
    },
}


def roll_dice(sides: int = 6) -> dict[str, Any]:
    return {"content": f"You rolled {random.randint(1, sides)} of {sides}."}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request.get("method"):
        case "activate":
            return {"tools": [ROLL_DICE]}
        case "execute_tool":
            arguments = json.loads(request["params"]["input"] or "{}")
            return {"result": roll_dice(**arguments)}
        case _:
            return {"result": None}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        # A request that is given up needs no answer.
        if request.get("method") == "cancel":
            continue
        try:
            said = answer(request)
        except Exception as error:
            said = {"error": str(error)}
        # The request's id comes first, so that answers may come in any order.
        if "id" in request:
            said = {"id": request["id"], **said}
        print(json.dumps(said, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
