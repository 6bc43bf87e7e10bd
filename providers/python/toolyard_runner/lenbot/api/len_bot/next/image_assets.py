"""Earlier name of `len_bot.image_assets`."""

from len_bot.image_assets import *  # noqa: F403
