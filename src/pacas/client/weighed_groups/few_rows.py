"""A number for each row of a table, of which only a few rows have one of their own.

Most rows agree with their groups, and are believed alike. So what is weighed anew takes as long as there are rows in
conflict, and not as there are rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacas.core.distance import Floats
from pacas.core.histogram import NO_ROWS, Ints


@dataclass(frozen=True, slots=True, eq=False)
class FewRows:
    """The numbers of a few rows, and that of all others.

    >>> stays = FewRows(np.array([2, 5]), np.array([0.5, 0.1]), 1.0)
    >>> stays[np.array([5, 0, 2])].tolist(), float(stays[2])
    ([0.1, 1.0, 0.5], 0.5)
    """

    rows: Ints
    """Ascending."""
    values: Floats
    others: float

    @classmethod
    def none(cls, others: float) -> FewRows:
        """All rows are alike."""
        return cls(NO_ROWS, np.empty(0), others)

    def __getitem__(self, rows: Any) -> Any:
        """The number of a row, or those of some."""
        if not len(self.rows):
            return np.full(np.shape(rows), self.others)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[at] == rows, self.values[at], self.others)


def row_by_row(rule: Callable[..., Any], *parts: FewRows) -> FewRows:
    """What a rule makes of several numbers of each row.

    >>> one, other = FewRows(np.array([2]), np.array([0.5]), 1.0), FewRows(np.array([5]), np.array([0.1]), 1.0)
    >>> row_by_row(np.minimum, one, other)[np.array([2, 3, 5])].tolist()
    [0.5, 1.0, 0.1]
    """
    rows = np.sort(np.concatenate([part.rows for part in parts]), kind="stable")  # runs that ascend are merged
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))]
    values = np.asarray(rule(*(part[rows] for part in parts)), dtype=np.float64)
    return FewRows(rows, values, float(rule(*(part.others for part in parts))))
