"""Earlier name of `len_bot.text_cards`."""

from len_bot.text_cards import *  # noqa: F403
