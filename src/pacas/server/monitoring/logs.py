"""The service's log: one JSON document a line, on stderr.

A line says what happened, where and how long it took, the name of the account and the client's address. It never holds
a body, a token, a query, a value, or the message of an unexpected error, which may quote any of them.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from typing import Any, TextIO, cast

import structlog
from pydantic_core import to_json
from structlog.typing import FilteringBoundLogger

_PACKAGE = Path(__file__).parents[2]


def make_log(stream: TextIO | None = None) -> FilteringBoundLogger:
    log: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(cast(TextIO, _Unfailing(stream or sys.stderr))),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_line),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    return log


class _Unfailing:
    """A stream that loses lines rather than fail: nothing ends because a disk is full, or nobody reads any more."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # ValueError: it was closed
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def _line(event: Any, **options: Any) -> str:
    return to_json(event).decode()


def place(error: BaseException) -> str:
    """The line of ours where an unexpected error came up, such as `provider/terms.py:77`."""
    ours = "outside of pacas"
    for frame, line in walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            ours = f"{path.relative_to(_PACKAGE).as_posix()}:{line}"
    return ours


class ServerLines(logging.Handler):
    """What the HTTP server itself has to say, without what it says it about."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        said: dict[str, Any] = {"message": _message(record)}
        if record.exc_info and record.exc_info[1] is not None:
            said |= {"error": type(record.exc_info[1]).__name__, "place": place(record.exc_info[1])}
        self._log.log(record.levelno, "server", **said)


def _message(record: logging.LogRecord) -> str:
    """The first line of a library's message; numbers are filled in, and nothing else."""
    args = record.args if isinstance(record.args, tuple) else ()
    only_numbers = args and all(isinstance(arg, int) for arg in args)
    return (record.getMessage() if only_numbers else str(record.msg)).partition("\n")[0]
