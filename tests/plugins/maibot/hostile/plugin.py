"""A plugin that does what its case asks for: while it is imported, loaded or unloaded, or in its tool."""

import contextlib
import json
import os
from pathlib import Path

from maibot_sdk import MaiBotPlugin, Tool

from . import deeds

CASE = json.loads((Path(__file__).parent / "case.json").read_text())
(Path(__file__).parent / "pid").write_text(str(os.getpid()))

if "at_import" in CASE:
    # There is a loop that runs: the deed has to do without one.
    with contextlib.suppress(StopIteration):
        deeds.do(None, **CASE["at_import"]).send(None)


class HostilePlugin(MaiBotPlugin):
    """The plugin."""

    updates = 0
    heard = 0

    async def on_load(self):
        if "on_load" in CASE:
            await deeds.do(self, **CASE["on_load"])

    async def on_unload(self):
        if "on_unload" in CASE:
            await deeds.do(self, **CASE["on_unload"])

    async def on_config_update(self, scope, config_data, version):
        self.updates += 1

    @Tool(
        CASE["name"],
        description="Does it.",
        parameters={"deed": {"type": "string", "required": True}, "value": {"description": "For the deed."}},
    )
    async def handle(self, deed, value=None, **kwargs):
        return await deeds.do(self, deed, value)


def create_plugin():
    return HostilePlugin()
