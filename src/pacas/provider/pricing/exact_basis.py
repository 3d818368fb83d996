"""Linear systems and programs with 0/1 columns, solved in whole numbers.

Prices that miss each other by one nanocredit clash, and beside a total of 10¹⁸ no floating-point solver sees it. The
systems are small (a row for the total and one for each price point), so the simplex method affords exact arithmetic:
the basis inverse is a matrix of whole numbers over one denominator (Edmonds), and every division in a pivot is even.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.engine.grouping import Ints

BigInts = NDArray[Any]
"""Python integers of any size."""

ARTIFICIAL = -1
"""What stands in a row of the basis in which no column does (yet)."""


class ExactBasis:
    """Columns of a 0/1 matrix that determine the solution of `matrix @ x = right`, one row each."""

    def __init__(self, matrix: Ints, right: Sequence[int]) -> None:
        self._matrix = matrix
        self._rows = len(right)
        self._table: BigInts = np.eye(self._rows, self._rows + 1, dtype=np.int64).astype(object)
        self._table[:, -1] = right  # beside the inverse: the values of the basis
        self._denominator = 1
        self.columns = [ARTIFICIAL] * self._rows

    def find_solution(self) -> list[int]:
        """Move to a solution with x ≥ 0; if there is none, the rows that contradict each other, else nothing."""
        duals = self._maximise(np.zeros(self._matrix.shape[1], dtype=np.int64), artificial=-1)
        open_rows = self._open_rows()
        if any(self._table[row, -1] for row in open_rows):
            return [row for row, dual in enumerate(duals) if dual]
        for row in open_rows:  # at zero: any column may take its place, and where none can the row is redundant
            (able,) = np.nonzero(self._times_matrix(self._table[row, :-1]))
            if len(able):
                self._pivot(row, int(able[0]))
        return []

    def interior(self) -> list[Fraction]:
        """A solution that is positive wherever any is; to be asked after a solution has been found."""
        inner = [Fraction(0)] * self._matrix.shape[1]
        unseen = np.ones(self._matrix.shape[1], dtype=np.int64)
        vertices = 0
        while unseen.any():
            self._maximise(unseen)
            vertices += 1
            before = int(unseen.sum())
            for column, value in self._solution().items():
                inner[column] += value
                unseen[column] &= value == 0
            if int(unseen.sum()) == before:  # the most they can sum to is zero
                break
        return [value / max(vertices, 1) for value in inner]

    def enter_greedily(self, order: Iterable[int]) -> None:
        """Fill the basis with the first columns in an order that are independent of those before them."""
        for column in order:
            open_rows = self._open_rows()
            if not open_rows:
                return
            chosen = self._matrix[:, column].astype(bool)
            entries = self._table[open_rows, :-1][:, chosen].sum(axis=1)
            able = [row for row, entry in zip(open_rows, entries, strict=True) if entry]
            if able:
                self._pivot(able[0], column)

    def complete(self, rest: BigInts) -> list[Fraction] | None:
        """What the basis columns must be for `matrix @ x = rest`, row by row; nothing if no x will do."""
        values = self._table[:, :-1] @ rest
        if any(values[row] for row in self._open_rows()):
            return None
        return [Fraction(value, self._denominator) for value in values]

    def _solution(self) -> dict[int, Fraction]:
        values = zip(self.columns, self._table[:, -1], strict=True)
        return {column: Fraction(value, self._denominator) for column, value in values if column != ARTIFICIAL}

    def _open_rows(self) -> list[int]:
        return [row for row, column in enumerate(self.columns) if column == ARTIFICIAL]

    def _maximise(self, gain: Ints, artificial: int = 0) -> BigInts:
        """Pivot until gain @ x can grow no more; the dual values, times the denominator.

        The steepest column enters; after a pivot that gains nothing, the lowest one (Bland), so that none comes back.
        """
        stalled = False
        while True:
            costs = [artificial if column == ARTIFICIAL else int(gain[column]) for column in self.columns]
            duals = np.array(costs, dtype=object) @ self._table[:, :-1]
            reduced = self._scaled(gain) - self._times_matrix(duals)
            column = int(np.argmax(reduced > 0) if stalled else np.argmax(reduced)) if len(reduced) else ARTIFICIAL
            if column == ARTIFICIAL or reduced[column] <= 0:
                return duals
            row = self._leaving_row(column)
            stalled = self._table[row, -1] == 0
            self._pivot(row, column)

    def _leaving_row(self, column: int) -> int:
        pairs = zip(self._table[:, -1], self._entries(column), strict=True)
        limits = [
            (Fraction(value, entry), self.columns[row], row) for row, (value, entry) in enumerate(pairs) if entry > 0
        ]
        return min(limits)[2]

    def _pivot(self, row: int, column: int) -> None:
        entries = self._entries(column)
        pivot, kept = entries[row], self._table[row].copy()
        self._table = (pivot * self._table - np.outer(entries, kept)) // self._denominator
        self._table[row] = kept
        if pivot < 0:
            self._table, pivot = -self._table, -pivot
        self._denominator = pivot
        self.columns[row] = column

    def _entries(self, column: int) -> BigInts:
        """A column in terms of the basis, times the denominator."""
        entries: BigInts = self._table[:, :-1][:, self._matrix[:, column].astype(bool)].sum(axis=1)
        return entries

    def _scaled(self, gain: Ints) -> BigInts:
        small = self._denominator < 2**60
        return gain * self._denominator if small else gain.astype(object) * self._denominator

    def _times_matrix(self, row: BigInts) -> BigInts:
        """A row of whole numbers times the matrix, in machine integers where they are large enough."""
        small = max(map(abs, row)) * self._rows < 2**60
        product: BigInts = row.astype(np.int64) @ self._matrix if small else row @ self._matrix.astype(object)
        return product
