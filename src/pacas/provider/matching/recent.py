"""A bounded memory of what was found for values asked about lately."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from pacas.engine.grouping import Array


class Recent:
    """Arrays by text; the ones unused for longest are forgotten when together they hold over `most` numbers."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0
        self._arrays: OrderedDict[str, Array] = OrderedDict()
        self._one_at_a_time = Lock()

    def get(self, text: str) -> Array | None:
        with self._one_at_a_time:
            found = self._arrays.get(text)
            if found is not None:
                self._arrays.move_to_end(text)
            return found

    def put(self, text: str, array: Array) -> None:
        with self._one_at_a_time:
            if text in self._arrays:
                return
            self._arrays[text] = array
            self._held += _size(array)
            while self._held > self._most:
                self._held -= _size(self._arrays.popitem(last=False)[1])


def _size(array: Array) -> int:
    """What keeping an array costs, the text and the bookkeeping counted as some numbers more."""
    return len(array) + 32
