"""Which class to repair next: the one with most errors.

Paper: Select in Alg. 3, §6.3.
"""

from __future__ import annotations

import numpy as np

from pacas.core.histogram import Ints

BLOCK = 256
"""Classes that share one maximum."""


class Selection:
    """The classes that are left, in blocks of which the most errors are known.

    Classes are numbered in the order that breaks ties (D9: first row, then column), and the first maximum is taken. One
    repair may change the errors of very many classes or of none; a heap would have to reorder them one by one.
    """

    def __init__(self, errors: Ints) -> None:
        blocks = -(-len(errors) // BLOCK)
        self._errors: Ints = np.full(blocks * BLOCK, DROPPED, dtype=np.int64)
        self._errors[: len(errors)] = errors
        self._blocks = self._errors.reshape(blocks, BLOCK)
        self._most: Ints = self._blocks.max(axis=1)
        """Per block: its most errors, or more."""
        self._size = len(errors)

    def __len__(self) -> int:
        return self._size

    def most_errors(self) -> int | None:
        """The number of the class with most errors; None if no class is left. It stays until it is dropped."""
        if not self._size:
            return None
        while True:
            block = int(self._most.argmax())
            number = block * BLOCK + int(self._blocks[block].argmax())
            if self._errors[number] == self._most[block]:
                return number
            self._most[block] = self._errors[number]  # its first has been dropped

    def drop(self, number: int) -> None:
        self._errors[number] = DROPPED
        self._size -= 1

    def put_back(self, number: int, errors: int) -> None:
        """A class that was dropped is left still."""
        self._errors[number] = errors
        block = number // BLOCK
        self._most[block] = max(self._most[block], errors)
        self._size += 1

    def left(self) -> list[int]:
        numbers: list[int] = np.flatnonzero(self._errors != DROPPED).tolist()
        return numbers

    def changed(self, numbers: Ints, errors: Ints) -> None:
        """Take over the new error counts of some classes, all of which are left."""
        self._errors[numbers] = errors
        blocks = np.unique(numbers // BLOCK) if len(numbers) < len(self._blocks) else slice(None)
        self._most[blocks] = self._blocks[blocks].max(axis=1)


DROPPED = -1
