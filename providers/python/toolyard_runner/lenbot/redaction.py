"""Takes the values of secrets out of everything that leaves the plugin."""

from __future__ import annotations

import json
import logging
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "[redacted]"


class Redactor:
    """Knows every spelling of every secret and removes the longest first."""

    def __init__(self, secrets: list[str]) -> None:
        spellings = {spelling for secret in secrets if secret for spelling in _spellings(secret)}
        self._spellings = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))

    def text(self, text: str) -> str:
        """The text without secrets."""
        for spelling in self._spellings:
            if spelling in text:
                text = text.replace(spelling, MARK)
        return text

    def value(self, value: Any) -> Any:
        """The JSON value without secrets; a number that shows one becomes text."""
        if not self._spellings:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.value(entry) for entry in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            written = str(value)
            redacted = self.text(written)
            return value if redacted == written else redacted
        return value


class LogFilter(logging.Filter):
    """Redacts log records before they are handed on."""

    def __init__(self) -> None:
        super().__init__()
        self.redactor = Redactor([])

    def filter(self, record: logging.LogRecord) -> bool:
        """Called by `logging`; never drops a record."""
        try:
            message = record.getMessage()
            if record.exc_info and record.exc_info[0] is not None:
                message = f"{message}\n{logging.Formatter().formatException(record.exc_info)}"
        except Exception:
            message = str(record.msg)
        record.msg, record.args, record.exc_info = self.redactor.text(message), (), None
        return True


def _spellings(secret: str) -> set[str]:
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
    }
