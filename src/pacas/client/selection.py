"""Which class to repair next: the one with most errors.

Paper: Select in Alg. 3, §6.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from pacas.core.histogram import Ints


class Selection:
    """The classes that are left, in a heap whose entries may be older than the counts.

    Classes are numbered in the order that breaks ties (D9: first row, then column). An entry that promises more errors
    than its class has by now goes back with the current count when it comes to the top; of a class with more errors
    than before the selection must be told. So a count may fall at no cost.
    """

    def __init__(self, errors: Ints) -> None:
        """`errors` is read, and kept up to date by its owner."""
        self._errors = errors
        self._heap = [(-count, number) for number, count in enumerate(errors.tolist())]
        self._left = [True] * len(errors)
        self._size = len(errors)
        heapify(self._heap)

    def __len__(self) -> int:
        return self._size

    def most_errors(self) -> int | None:
        """The number of the class with most errors; None if no class is left. It stays until it is dropped."""
        while self._heap:
            promised, number = self._heap[0]
            if not self._left[number]:
                heappop(self._heap)
            elif -promised > self._errors[number]:
                heappop(self._heap)
                heappush(self._heap, (-int(self._errors[number]), number))
            else:
                return number
        return None

    def drop(self, number: int) -> None:
        self._left[number] = False
        self._size -= 1

    def left(self) -> list[int]:
        return [number for number, left in enumerate(self._left) if left]

    def raised(self, numbers: Iterable[int]) -> None:
        """These classes have more errors than before."""
        for number in numbers:
            if self._left[number]:
                heappush(self._heap, (-int(self._errors[number]), number))
