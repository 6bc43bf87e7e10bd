"""Drives Toolyard with the official Python SDK and prints what it saw, as JSON.

Usage: mcp_client.py MODE TARGET..., where MODE is `legacy` or a revision, and TARGET an address or a command.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


async def main(mode: str, target: list[str]) -> dict:
    """Uses everything once."""
    seen: dict = {"progress": [], "asked": []}

    async def elicit(_context: object, params: object) -> ElicitResult:
        seen["asked"].append(params.message)
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen["progress"].append([done, total, message])

    server = target[0] if len(target) == 1 else StdioServerParameters(command=target[0], args=target[1:])
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        seen["version"] = client.protocol_version
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        read = await client.read_resource("asking://notes")
        seen["resource"] = read.contents[0].text
        echo = await client.call_tool("asking__echo", {"n": 12345678901234567890123})
        seen["echo"] = echo.content[0].text
        await client.call_tool("asking__steps", {}, progress_callback=progress)
        asked = await client.call_tool("asking__ask", {})
        seen["answer"] = json.loads(asked.content[0].text)

        async def until(count: str) -> None:
            for _ in range(100):
                seen["cancelled"] = (await client.call_tool("asking__cancelled", {})).content[0].text
                if seen["cancelled"] == count:
                    return
                await asyncio.sleep(0.1)

        slow = asyncio.ensure_future(client.call_tool("asking__slow", {}))
        await until("0 of 1")
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        await until("1 of 1")
    return seen


print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2:]))))
