"""Plugins written for MaiBot, on the public maibot-plugin-sdk."""

from __future__ import annotations

from toolyard_runner.dialect import Dialect, Host, Plugin


def make(plugin: Plugin, host: Host) -> Dialect:
    """The dialect for one plugin. The SDK is imported when the plugin is loaded."""
    from toolyard_runner.maibot.plugin import MaiBotDialect

    return MaiBotDialect(plugin, host)
