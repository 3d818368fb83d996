"""What an engine is told of rows that belong together, and of those that groups of them keep back.

Rows are *found* together where they agree in the columns that they are looked up by, and *sold* in units: a row alone,
or all rows that agree in some columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pacas.core.hierarchy import Hierarchy
from pacas.engine.grouping import NONE, Ints
from pacas.engine.lots import Lots


@dataclass(frozen=True, eq=False, slots=True)
class Agreement:
    """Rows belong together that have the same values in some columns: as texts, or by number where a hierarchy says so.

    A row with a null belongs to none, unless a null is a value like any other.
    """

    columns: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    with_nulls: bool = False


def size_of(name: str) -> str:
    """What the column of sizes is called, where a column of numbers has a name."""
    return f"{name} size"


A_PAIR = 40
"""What it costs to keep a unit of two rows back, in halves of a row: as much as twenty of more."""


def cost_of_units(sizes: Ints) -> Ints:
    """What it costs those who buy that units are kept back, in halves of a row.

    Nothing contradicts a row alone. Of two that contradict each other nobody knows the right one without buying it; of
    more, most tell.

    >>> cost_of_units(np.array([1, 2, 3, 19, 21])).tolist()
    [1, 40, 6, 38, 42]
    """
    return np.select([sizes == 1, sizes == 2], [1, A_PAIR], 2 * sizes)


def cost_sql(size: str) -> str:
    """The same of a unit whose size SQL knows by a name."""
    return f"CASE {size} WHEN 1 THEN 1 WHEN 2 THEN {A_PAIR} ELSE 2 * {size} END"


@dataclass(frozen=True, eq=False, slots=True)
class KeptRows:
    """Every group keeps `keep` rows back, or all it has. Rows that cannot be bought count; of others, units are drawn.

    A unit can be bought if rows that are `found` together are all its own, and no more than `most`.
    """

    groups: Agreement
    keep: int
    found: tuple[Agreement, ...]
    most: int
    drawn_by: tuple[str, ...]
    """The columns that a unit's lot follows from."""
    salt: str
    unit: str | None = None
    """The column that numbers units, if they are not rows; what `Engine.numbered` has made."""
    closed: Ints = field(default_factory=lambda: NONE)
    """Rows that do not count: their groups are as if they were not there."""


class UnitPairs(NamedTuple):
    """Units that groups may keep back: how many rows of unit u group g has, how many g needs, and u's cost and lot."""

    group: Ints
    unit: Ints
    rows: Ints
    need: Ints
    cost: Ints
    lot: Lots


Choose = Callable[[UnitPairs], Ints]
"""The units that are kept back, where some are in several groups."""
