"""What went wrong in a plugin's code, in few words."""

from __future__ import annotations

import traceback

from toolyard_runner.dialect import LoadError

MAX_MESSAGE = 500
MAX_DETAIL = 2000


def named(error: BaseException) -> str:
    """`ValueError: no such city`."""
    text = str(error).strip()
    name = type(error).__name__
    return shortened(f"{name}: {text}" if text else name, MAX_MESSAGE)


def tail(error: BaseException) -> str:
    """The end of the traceback, where the plugin's own lines are."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return text if len(text) <= MAX_DETAIL else "…" + text[-MAX_DETAIL:]


def load_error(stage: str, sentence: str, error: BaseException) -> LoadError:
    """The failure of one stage of loading."""
    return LoadError(stage, f"{sentence}: {named(error)}", tail(error))


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
