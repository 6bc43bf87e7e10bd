"""Earlier name of `len_bot.plugin_testing`."""

from len_bot.plugin_testing import *  # noqa: F403
