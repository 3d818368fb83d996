"""From a client's tuples to the rows of a relation that stays on the engine: looked up in its index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from pacas.engine.contract import Index
from pacas.engine.grouping import Ints
from pacas.provider.matching.lookup_keys import Key, LookupKeys

WIDE = 1 << 12
"""Look-ups that are made together for one tuple."""


class IndexMatcher:
    """Finds the rows that match tuples in an index that is by the match's columns."""

    def __init__(self, lookup_keys: LookupKeys, index: Index) -> None:
        self.lookup_keys, self._index = lookup_keys, index

    def match(self, keys: Sequence[Key], most: int | None) -> tuple[pa.Table, Ints]:
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
