"""What requests need of a relation that stays on the engine: the rows that they match, and those that belong to these.

A request is judged on nothing else. What was found lately is kept, so that paying after asking for prices does not look
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from cachetools import LRUCache
from numpy.typing import NDArray

from pacas.engine.codes import coded_texts, linked_keys
from pacas.engine.contract import Hierarchies, Index
from pacas.engine.grouping import Groups, Ints, combine
from pacas.provider.matching.index_matcher import IndexMatcher
from pacas.provider.matching.lookup_keys import Key

FIRST_KEYS = 256
MOST_KEYS = 1 << 16
MOST_ROWS = 1 << 18
"""Tuples that are looked up together at first and at most, and about how many rows these may bring."""
MOST_KEPT = 1_000_000
"""Rows that are kept of what was found lately."""


@dataclass(frozen=True, eq=False, repr=False)
class FoundRows:
    """Rows by number, ascending, with their texts; and per tuple the places of those that it matches.

    Of a tuple that matches too many rows there are none.
    """

    rows: Ints
    texts: pa.Table
    keys: Mapping[Key, int]
    matched: Groups
    too_many: NDArray[np.bool_]
    groups: Sequence[Ints] = ()
    """Where groups reach beyond what is matched: the group of each row, −1 if it is in none."""

    def select(self, keys: Sequence[Key]) -> FoundRows:
        """What some of the tuples need: the rows that they match, and those in the same groups."""
        numbers = np.array([self.keys[key] for key in keys], dtype=np.int64)
        matched = self.matched.take(numbers)
        wanted = np.zeros(len(self.rows), dtype=np.bool_)
        wanted[matched.members] = True
        for group in self.groups:
            chosen = np.zeros(int(group.max(initial=-1)) + 2, dtype=np.bool_)
            chosen[group[matched.members]] = True
            chosen[-1] = False  # where −1 looks
            wanted |= chosen[group]
        place = np.cumsum(wanted) - 1
        return FoundRows(
            self.rows[wanted],
            self.texts.take(pa.array(np.flatnonzero(wanted))),
            {key: i for i, key in enumerate(keys)},
            Groups(matched.offsets, place[matched.members]),
            self.too_many[numbers],
        )

    @classmethod
    def joined(cls, parts: Sequence[FoundRows]) -> FoundRows:
        """What was found for different tuples, together."""
        if len(parts) == 1:
            return parts[0]
        every = np.concatenate([part.rows for part in parts])
        rows, first = np.unique(every, return_index=True)
        matched = np.concatenate([part.rows[part.matched.members] for part in parts])
        sizes = np.concatenate([np.diff(part.matched.offsets) for part in parts])
        return cls(
            rows,
            pa.concat_tables([part.texts for part in parts]).take(pa.array(first)),
            {key: i for i, key in enumerate(key for part in parts for key in part.keys)},
            Groups.of_sizes(sizes, np.searchsorted(rows, matched)),
            np.concatenate([part.too_many for part in parts]),
        )


class GroupIndex(NamedTuple):
    """Rows that agree in some columns, and of how many at most, besides one, a group is given."""

    columns: Sequence[str]
    found_in: Index
    most: int | None


class RowLookup:
    """All that one attribute's requests need, looked up."""

    def __init__(
        self,
        matcher: IndexMatcher,
        max_matches: int,
        beside: Sequence[GroupIndex] = (),
        hierarchies: Hierarchies | None = None,
        most_kept: int = MOST_KEPT,
    ) -> None:
        self._matcher, self._beside, self._hierarchies = matcher, beside, hierarchies or {}
        self._max_matches = max_matches
        self.recent = FoundLately(most_kept)

    def of(self, keys: Sequence[Key]) -> FoundRows:
        """What some tuples need, each given once."""
        kept = self.recent.look_up(keys)
        missing = [key for key in keys if key not in kept]
        parts = []
        if missing:
            parts.append(self._look_up(missing))
            self.recent.keep(parts[0])
        of_part: dict[int, tuple[FoundRows, list[Key]]] = {}
        for key, found in kept.items():
            of_part.setdefault(id(found), (found, []))[1].append(key)
        for found, mine in of_part.values():
            parts.append(found.select(mine))
        return FoundRows.joined(parts)

    def each(self, keys: Sequence[Key]) -> Iterator[tuple[Sequence[Key], FoundRows]]:
        """Some tuples after the other, each given once, and what they need; so many as fit in memory together."""
        start, size = 0, FIRST_KEYS
        while start < len(keys):
            chunk = keys[start : start + size]
            found = self.of(chunk)
            yield chunk, found
            start += size
            of_a_key = max(len(found.rows) / len(chunk), 1)
            size = max(FIRST_KEYS, min(16 * size, MOST_KEYS, int(MOST_ROWS / of_a_key)))

    def rows(self, keys: Sequence[Key]) -> list[tuple[int, ...]]:
        """The rows that each tuple matches, however many."""
        table, of_key = self._matcher.match(keys, None)
        rows = table.column("row").to_numpy()
        order = np.lexsort((rows, of_key))
        ends = np.searchsorted(of_key[order], np.arange(len(keys) + 1))
        return [tuple(rows[order[a:b]].tolist()) for a, b in pairwise(ends)]

    def _look_up(self, keys: Sequence[Key]) -> FoundRows:
        table, of_key = self._matcher.match(keys, self._max_matches)
        too_many = np.bincount(of_key, minlength=len(keys)) > self._max_matches
        few = ~too_many[of_key]
        table, of_key = table.filter(pa.array(few)), of_key[few]
        matched = table.column("row").to_numpy()
        tables = [table, *self._beside_these(table)]
        every = np.concatenate([t.column("row").to_numpy() for t in tables])
        rows, first = np.unique(every, return_index=True)
        texts = pa.concat_tables(tables).take(pa.array(first)).drop_columns(["row"])
        order = np.lexsort((matched, of_key))
        offsets = np.searchsorted(of_key[order], np.arange(len(keys) + 1))
        places = np.searchsorted(rows, matched[order])
        numbers = {key: i for i, key in enumerate(keys)}
        groups = [self._groups(texts, columns) for columns, _, _ in self._beside]
        return FoundRows(rows, texts, numbers, Groups(offsets, places), too_many, groups)

    def _beside_these(self, table: pa.Table) -> list[pa.Table]:
        """The rows of the groups that rows are in."""
        found = []
        for columns, index, most in self._beside if len(table) else ():
            groups = self._groups(table, columns)
            _, first = np.unique(groups, return_index=True)
            values = table.select(list(columns)).take(pa.array(first[groups[first] >= 0]))
            found.append(index.find(values, most).drop_columns(["line"]))
        return found

    def _groups(self, texts: pa.Table, columns: Sequence[str]) -> Ints:
        """The group of each row, −1 if it is in none."""
        if not len(texts):
            return np.empty(0, dtype=np.int64)
        keys = [linked_keys(coded_texts(texts.column(a)), self._hierarchies.get(a)) for a in columns]
        return combine(keys).key.astype(np.int64)


class FoundLately(LRUCache[FoundRows, FoundRows]):
    """What was found lately, by tuple; what was unused for longest is let go when there is too much."""

    def __init__(self, most: int) -> None:
        super().__init__(most, getsizeof=_kept_rows)
        self.of_key: dict[Key, FoundRows] = {}
        self._one_at_a_time = Lock()

    def look_up(self, keys: Sequence[Key]) -> dict[Key, FoundRows]:
        """What is kept of some tuples."""
        with self._one_at_a_time:
            kept = {key: self.of_key[key] for key in keys if key in self.of_key}
            for found in set(kept.values()):
                self[found]  # it is used
            return kept

    def keep(self, found: FoundRows) -> None:
        """Keep it, unless it alone is too much."""
        with self._one_at_a_time, suppress(ValueError):
            self[found] = found
            self.of_key |= dict.fromkeys(found.keys, found)

    def popitem(self) -> tuple[FoundRows, FoundRows]:
        found, _ = super().popitem()
        for key in found.keys:
            if self.of_key.get(key) is found:
                del self.of_key[key]
        return found, found


def _kept_rows(found: FoundRows) -> int:
    """What keeping it costs, in rows; a tuple counts as one."""
    return len(found.rows) + len(found.keys)
