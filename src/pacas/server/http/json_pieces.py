"""A large body of JSON, read piece by piece: while one is taken apart whole, nobody else is answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import ValidationError

from pacas.server.http.failures import Failure
from pacas.wire.shapes.failures import ErrorCode

PIECE = 16 * 1024
"""Bytes of a piece, about: it is read in less than a millisecond."""
AT_ONCE = 2 * PIECE
"""Bytes of a body that is one piece."""
LARGEST_OBJECT = 256 * 1024
"""Bytes of what cannot be cut."""
_CUT = re.compile(rb'\}\s*,\s*(?=\{\s*"[a-z])')
"""Between two objects of a list. In a text a quote is escaped, and the one that ends it is followed by no letter."""
_TAIL = re.compile(rb"\]\s*\}\s*\Z")
T = TypeVar("T")


def read_pieces(body: bytes, name: str, most: int, read: Callable[[bytes], list[T]]) -> Iterator[list[T]]:
    """The objects of the list that a body consists of, at most so many, some at a time."""
    count = 0
    for start, piece in _pieces(body, name):
        try:
            found = read(piece)
        except ValidationError as error:
            raise Failure.of(error, count, start) from None
        count += len(found)
        if count > most:
            raise Failure.too_many(most)
        yield found


def _pieces(body: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    """Bodies of the same shape with some of the objects each, and where they begin."""
    head = None if len(body) <= AT_ONCE else re.compile(rb'\s*\{\s*"%b"\s*:\s*\[' % name.encode()).match(body, 0, PIECE)
    tail = None if head is None else _TAIL.search(body, len(body) - PIECE)
    if head is None or tail is None:
        if len(body) > LARGEST_OBJECT:
            message = f"a body of more than {LARGEST_OBJECT:,} bytes must be one list of {name}, and nothing besides"
            raise Failure(ErrorCode.UNPROCESSABLE, message)
        yield 0, body
        return
    start, end = head.end(), tail.start()
    while start < end:
        cut = _CUT.search(body, min(start + PIECE, end), min(start + LARGEST_OBJECT, end))
        if cut is None and end - start > LARGEST_OBJECT:
            raise Failure(ErrorCode.UNPROCESSABLE, f"one of the {name} is larger than {LARGEST_OBJECT:,} bytes")
        stop = end if cut is None else cut.start() + 1
        yield start, head[0] + body[start:stop] + tail[0]
        start = end if cut is None else cut.end()
