"""What is written into a class once a value has been bought.

Paper: ApplyRepair in Alg. 3, §6.5. Differs from the paper (D11): the paper writes the bought value, which is `replace`.
By default the client's own evidence speaks: a bought `NSAID` says which of the client's values are right, and one
of those says more than `NSAID` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from pacas.client.classes.current_relation import CurrentColumn
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.outcome.steps import BoughtValue, Repair, Why
from pacas.core.histogram import Ints

Rule = Callable[[CurrentColumn, Ints, int], tuple[int, Why]]
"""From a column, the rows of a class, and the bought value's code: what to write, and why."""


def replace(column: CurrentColumn, rows: Ints, bought: int) -> tuple[int, Why]:
    """The bought value itself."""
    return bought, Why.BOUGHT


def refine(column: CurrentColumn, rows: Ints, bought: int) -> tuple[int, Why]:
    """The class's most frequent value at or below the bought one (ties: the one that stands first), if it has any."""
    enter, leave = column.spans
    first, last, is_evidence = enter[bought], leave[bought], column.is_evidence
    best, most = bought, 0
    for code, n in Counter(column.codes[rows].tolist()).items():  # in order of first appearance
        if n > most and first <= enter[code] < last and is_evidence[code]:
            best, most = code, n
    return best, Why.EVIDENCE if most else Why.BOUGHT


def ground(column: CurrentColumn, rows: Ints, bought: int) -> tuple[int, Why]:
    """What `refine` finds in the class; if nothing, the column's most frequent ground value below the bought one.

    Ties go to the value that comes first in the hierarchy. If none of them occurs, it is the bought value.
    """
    code, why = refine(column, rows, bought)
    if why is Why.EVIDENCE:
        return code, why
    tree = column.hierarchy
    below = np.flatnonzero(column.groups[: column.known]).astype(np.int32)
    below = below[tree.precedes(below, bought)]
    if not len(below) or not (counts := column.frequency[below]).any():
        return bought, Why.BOUGHT
    best = int(below[counts.argmax()])
    return best, Why.BOUGHT if best == bought else Why.COLUMN


REPAIRS: Mapping[str, Rule] = {"replace": replace, "refine": refine, "ground": ground}


class Repairs(list[Repair]):
    """The repairs so far, in order: the trace of a cleaning."""

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self._rule = rule

    def apply(self, number: int, purchase: BoughtValue, counts: ErrorCounts, round: int) -> None:
        """ApplyRepair: write into every cell of a class what the purchase says, and remember why."""
        column, places = counts.current[purchase.attribute], counts.rows(number)
        code, why = self._rule(column, places, column.code(purchase.value))
        written = counts.current.rows(counts.repair(number, code))
        new = str(column.hierarchy.label(code))
        before, left = column.before, counts.violations
        self.append(
            Repair(purchase.attribute, purchase.rows, before, places, new, why, written, round, (purchase,), left)
        )
