"""What plugins' own tests import."""

from toolyard_runner.lenbot.testing import PluginTest

__all__ = ["PluginTest"]
