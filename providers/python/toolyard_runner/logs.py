"""The plugin's log, handed to the host at a bounded rate."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_BURST = 200
_PER_SECOND = 200.0
_LONGEST = 8 << 10

Sink = Callable[[str, str, str, int], None]


class Forwarder(logging.Handler):
    """Hands records to the sink as (level, logger, message, dropped); what comes too fast is counted and dropped."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink
        self._room = float(_BURST)
        self._since = time.monotonic()
        self._dropped = 0
        self._guard = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Called by `logging`, from any thread."""
        try:
            message = record.getMessage()
            if record.exc_info and record.exc_info[0] is not None:
                message = f"{message}\n{logging.Formatter().formatException(record.exc_info)}"
        except Exception:
            message = str(record.msg)
        self.forward(record.levelname.lower(), record.name, message)

    def forward(self, level: str, logger: str, message: str) -> None:
        """One line."""
        with self._guard:
            now = time.monotonic()
            self._room = min(_BURST, self._room + (now - self._since) * _PER_SECOND)
            self._since = now
            if self._room < 1:
                self._dropped += 1
                return
            self._room -= 1
            dropped, self._dropped = self._dropped, 0
        self._sink(level, logger, message[:_LONGEST], dropped)


def install(sink: Sink, level: str) -> Forwarder:
    """Makes the forwarder the only handler of the root logger."""
    forwarder = Forwarder(sink)
    root = logging.getLogger()
    root.handlers[:] = [forwarder]
    root.setLevel(level.upper())
    return forwarder
