"""What an engine is told of rows that belong together, and of those that groups of them keep back.

Rows are *found* together where they agree in the columns that they are looked up by, and *sold* in units: a row alone,
or all rows that agree in some columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

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
    """Units that groups may keep back: how many rows of unit u group g has, how many g needs, and u's size and lot."""

    group: Ints
    unit: Ints
    rows: Ints
    need: Ints
    size: Ints
    lot: Lots


Choose = Callable[[UnitPairs], Ints]
"""The units that are kept back, where some are in several groups."""
