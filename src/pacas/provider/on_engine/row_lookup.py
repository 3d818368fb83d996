"""What requests need of a relation that stays on the engine: the rows that they match, and these rows' X-groups.

A request is judged on nothing else. Where a match is by equality of columns of X, as D5 has it, the X-groups lie within
what is matched; otherwise they are a second look-up. What was found lately is kept, so that paying after asking for
prices does not look again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from threading import Lock

import numpy as np
import pyarrow as pa
from cachetools import LRUCache
from numpy.typing import NDArray

from pacas.core.anonymity import Policy
from pacas.engine.codes import coded_texts, linked_keys
from pacas.engine.contract import Hierarchies, Index
from pacas.engine.grouping import Groups, Ints, combine, spread
from pacas.provider.on_engine.covering import MOST_OF_A_GROUP
from pacas.provider.on_engine.lookup_keys import Key, LookupKeys

WIDE = 1 << 12
"""Look-ups that are made together for one tuple."""
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
    """Per policy whose X-groups reach beyond what is matched: the group of each row, −1 if it is in none."""

    def select(self, keys: Sequence[Key]) -> FoundRows:
        """What some of the tuples need: the rows that they match, and those in the same groups."""
        numbers = np.array([self.keys[key] for key in keys], dtype=np.int64)
        starts, sizes = self.matched.offsets[numbers], np.diff(self.matched.offsets)[numbers]
        places = self.matched.members[spread(starts, sizes)]
        wanted = np.zeros(len(self.rows), dtype=np.bool_)
        wanted[places] = True
        for group in self.groups:
            chosen = np.zeros(int(group.max(initial=-1)) + 2, dtype=np.bool_)
            chosen[group[places]] = True
            chosen[-1] = False  # where −1 looks
            wanted |= chosen[group]
        place = np.cumsum(wanted) - 1
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return FoundRows(
            self.rows[wanted],
            self.texts.take(pa.array(np.flatnonzero(wanted))),
            {key: i for i, key in enumerate(keys)},
            Groups(offsets, place[places]),
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
            Groups(np.concatenate([[0], np.cumsum(sizes)]), np.searchsorted(rows, matched)),
            np.concatenate([part.too_many for part in parts]),
        )


class RowLookup:
    """All that one attribute's requests need, looked up."""

    def __init__(
        self,
        lookup_keys: LookupKeys,
        index: Index,
        linked: Sequence[tuple[Policy, Index | None]],
        hierarchies: Hierarchies,
        max_matches: int,
        most_kept: int = MOST_KEPT,
    ) -> None:
        self.lookup_keys, self._index, self._linked, self._hierarchies = lookup_keys, index, linked, hierarchies
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

    def rows(self, keys: Sequence[Key]) -> list[tuple[int, ...]]:
        """The rows that each tuple matches, however many."""
        table, of_key = self._matches(keys, None)
        rows = table.column("row").to_numpy()
        order = np.lexsort((rows, of_key))
        ends = np.searchsorted(of_key[order], np.arange(len(keys) + 1))
        return [tuple(rows[order[a:b]].tolist()) for a, b in pairwise(ends)]

    def _look_up(self, keys: Sequence[Key]) -> FoundRows:
        table, of_key = self._matches(keys, self._max_matches)
        too_many = np.bincount(of_key, minlength=len(keys)) > self._max_matches
        few = ~too_many[of_key]
        table, of_key = table.filter(pa.array(few)), of_key[few]
        matched = table.column("row").to_numpy()
        tables = [table, *self._x_groups(table)]
        every = np.concatenate([t.column("row").to_numpy() for t in tables])
        rows, first = np.unique(every, return_index=True)
        texts = pa.concat_tables(tables).take(pa.array(first)).drop_columns(["row"])
        order = np.lexsort((matched, of_key))
        offsets = np.searchsorted(of_key[order], np.arange(len(keys) + 1))
        places = np.searchsorted(rows, matched[order])
        numbers = {key: i for i, key in enumerate(keys)}
        groups = [self._groups(texts, policy) for policy, index in self._linked if index is not None]
        return FoundRows(rows, texts, numbers, Groups(offsets, places), too_many, groups)

    def _matches(self, keys: Sequence[Key], most: int | None) -> tuple[pa.Table, Ints]:
        """Each row that a tuple matches, and whose it is. Of one that matches more than `most`, as many at least."""
        lookups: list[tuple[str, ...]] = []
        of_lookup: list[int] = []
        tables, owners = [], []
        for number, key in enumerate(keys):
            left = self.lookup_keys.of(key)
            first = list(islice(left, WIDE))
            lookups += first
            of_lookup += [number] * len(first)
            if len(first) == WIDE and (more := self._wide(first, left, most)):
                del lookups[-WIDE:], of_lookup[-WIDE:]
                tables += more
                owners += [np.full(len(table), number) for table in more]
        found = self._find(lookups, most)
        owner = np.array(of_lookup, dtype=np.int64)[found.column("line").to_numpy()]
        together = pa.concat_tables([found.drop_columns(["line"]), *tables])
        return together, np.concatenate([owner, *owners]).astype(np.int64)

    def _wide(self, first: list[tuple[str, ...]], left: Iterator[tuple[str, ...]], most: int | None) -> list[pa.Table]:
        """A tuple that takes many look-ups: until there are enough rows."""
        tables, count, lookups = [], 0, first
        while lookups and (most is None or count <= most):
            tables.append(self._find(lookups, most).drop_columns(["line"]))
            count += len(tables[-1])
            lookups = list(islice(left, WIDE))
        return tables

    def _find(self, lookups: Sequence[tuple[str, ...]], most: int | None) -> pa.Table:
        by = zip(*lookups, strict=True) if lookups else [()] * len(self.lookup_keys.by)
        values = {a: pa.array(column, pa.string()) for a, column in zip(self.lookup_keys.by, by, strict=True)}
        return self._index.find(pa.table(values), most)

    def _x_groups(self, table: pa.Table) -> list[pa.Table]:
        """The rows of the X-groups that rows are in, where these do not lie within what is matched."""
        found = []
        for policy, index in self._linked:
            if index is not None and len(table):
                groups = self._groups(table, policy)
                _, first = np.unique(groups, return_index=True)
                values = table.select(list(policy.x)).take(pa.array(first[groups[first] >= 0]))
                found.append(index.find(values, MOST_OF_A_GROUP).drop_columns(["line"]))
        return found

    def _groups(self, texts: pa.Table, policy: Policy) -> Ints:
        """The X-group of each row, −1 if it is in none."""
        if not len(texts):
            return np.empty(0, dtype=np.int64)
        keys = [linked_keys(coded_texts(texts.column(a)), self._hierarchies.get(a)) for a in policy.x]
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
