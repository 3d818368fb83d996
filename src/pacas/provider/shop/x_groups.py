"""The X-groups behind a margin: which ones stand how far above their bound. For the provider's own eyes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import Ints


class XGroup(NamedTuple):
    """One X-group: what it has in X, as its first row spells it, its rows, and how far it is above its bound."""

    x: tuple[str | None, ...]
    rows: int
    """Of a very large group on the engine, those that were looked at."""
    margin: int

    def __repr__(self) -> str:  # no value: it is the provider's
        return f"XGroup(rows={self.rows}, margin={self.margin})"


@dataclass(frozen=True, eq=False, repr=False)
class JudgedGroups:
    """Whole X-groups of some rows, numbered from 0, and the margin of each."""

    group: Ints
    """Per row: its X-group, −1 if it has a null in X."""
    margin: Ints
    x: Sequence[CodedColumn]

    def between(self, low: int, high: int) -> Ints:
        """The groups whose margin is one of these."""
        return np.flatnonzero((self.margin >= low) & (self.margin <= high))

    def shown(self, groups: Ints) -> list[XGroup]:
        """Some of the groups, as they are."""
        linked = np.flatnonzero(self.group >= 0)
        first = np.zeros(len(self.margin), dtype=np.int64)
        first[self.group[linked][::-1]] = linked[::-1]
        sizes = np.bincount(self.group[linked], minlength=len(self.margin))
        return [
            XGroup(
                tuple(column.values[column.codes[first[group]]] for column in self.x),
                int(sizes[group]),
                int(self.margin[group]),
            )
            for group in groups.tolist()
        ]


class GroupsBehind:
    """All X-groups of a policy as an audit has counted them, in parts that need not fit in memory together."""

    def __init__(self, parts: Callable[[], Iterator[JudgedGroups]]) -> None:
        self.parts = parts

    def page(self, low: int, high: int, start: int, limit: int) -> list[XGroup]:
        """At most `limit` of the groups whose margin is from `low` to `high`, after the first `start` of them."""
        found: list[XGroup] = []
        for part in self.parts():
            groups = part.between(low, high)
            found += part.shown(groups[start : start + limit - len(found)])
            if len(found) == limit:
                break
            start = max(0, start - len(groups))
        return found
