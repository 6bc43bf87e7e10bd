"""Earlier name of `len_bot.plugin`."""

from len_bot.plugin import *  # noqa: F403
