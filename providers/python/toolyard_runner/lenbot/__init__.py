"""LenBot plugins: their own interface, rebuilt from its public description."""

from __future__ import annotations

from ..dialect import Dialect, Host, Plugin
from .dialect import LenBotDialect


def make(plugin: Plugin, host: Host) -> Dialect:
    """The dialect for one plugin."""
    return LenBotDialect(plugin, host)
