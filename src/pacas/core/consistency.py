"""When do general values agree, and how many pairs of tuples do not.

Paper: §3.2. R ⊨ X → B iff any two tuples with equal ground values in X have comparable values in B. The
paper's check looks at all pairs; here the pairs of one X-group are counted from how often each value occurs:
n(n−1)/2 pairs, less those of equal values, less those of a value and one of its ancestors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints, sum_by


@dataclass(frozen=True, eq=False, repr=False)
class GroupedRows:
    """Rows that belong together, group by group, with each row's value in one attribute.

    Group g holds rows[offsets[g]:offsets[g + 1]], in ascending order; `codes` are nodes of `hierarchy`.
    Groups are in order of their first row.
    """

    rows: Ints
    offsets: Ints
    codes: Codes
    hierarchy: Hierarchy

    def __repr__(self) -> str:
        return f"GroupedRows({len(self):,} groups, {len(self.rows):,} rows)"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @cached_property
    def groups(self) -> Ints:
        """Per row: its group."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def first_rows(self) -> Ints:
        return self.rows[self.offsets[:-1]]

    def group(self, number: int) -> Ints:
        return self.rows[self.offsets[number] : self.offsets[number + 1]]

    def select(self, keep: NDArray[np.bool_]) -> GroupedRows:
        """Only the groups marked in `keep`; what is known of them stays known."""
        if keep.all():
            return self
        kept = np.repeat(keep, self.sizes)
        offsets = np.concatenate([[0], np.cumsum(self.sizes[keep])])
        chosen = GroupedRows(self.rows[kept], offsets, self.codes[kept], self.hierarchy)
        if "violations" in self.__dict__:
            chosen.__dict__["violations"] = self.violations[keep]
        return chosen

    def at(self, rows: Ints) -> GroupedRows:
        """These groups with other numbers for their rows, in the old order; what is known of them stays known."""
        called = GroupedRows(rows, self.offsets, self.codes, self.hierarchy)
        if "violations" in self.__dict__:
            called.__dict__["violations"] = self.violations
        return called

    @cached_property
    def violating(self) -> GroupedRows:
        """Only the groups with a violation."""
        return self.select(self.violations > 0)

    @cached_property
    def violations(self) -> Ints:
        """Per group: how many pairs of its rows have incomparable values."""
        return ValueCounts.of(self.sizes, self.codes, self.hierarchy).violations(len(self))


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often each value occurs in each group: n rows of `group` have the value `code`.

    Three rows of one group hold a, b and their parent p: a and b clash, and p, which is above both, does not.

    >>> tree = Hierarchy.from_rows([["a", "p", "*"], ["b", "p", "*"]])
    >>> counts = ValueCounts.of(np.array([3]), tree.encode(["a", "b", "p"]), tree)
    >>> {tree.label(code): n for code, n in zip(counts.code.tolist(), counts.incomparable.tolist())}
    {'a': 1, 'b': 1, 'p': 0}
    >>> counts.violations(groups=1).tolist()
    [1]
    """

    group: Ints
    code: Ints
    n: Ints
    hierarchy: Hierarchy

    @classmethod
    def of(cls, sizes: Ints, codes: Codes, hierarchy: Hierarchy) -> ValueCounts:
        """From the codes of one group after the other, and how many each group has."""
        width = len(hierarchy)
        small = len(sizes) * width < 2**31  # numbers of 32 bits sort twice as fast
        first: NDArray[Any] = np.arange(len(sizes), dtype=np.int32 if small else np.int64) * width
        key = np.repeat(first, sizes)
        key += codes
        keys, n = np.unique(key, return_counts=True)
        group, code = np.divmod(keys.astype(np.int64), width)
        return cls(group, code, n.astype(np.int64), hierarchy)

    @cached_property
    def incomparable(self) -> Ints:
        """Per entry: how many rows of its group have a value that is neither above nor below its own."""
        sizes = sum_by(self.group, self.n)
        return sizes[self.group] - self.n - self._on_one_path()

    def violations(self, groups: int) -> Ints:
        """Per group: the pairs of rows with incomparable values, each pair once."""
        return sum_by(self.group, self.n * self.incomparable, groups) // 2

    def _on_one_path(self) -> Ints:
        """Per entry: how many rows of its group have a proper ancestor or descendant of its value."""
        width = len(self.hierarchy)
        keys = self.group * width + self.code
        present = np.zeros(width, dtype=bool)
        present[self.code] = True
        related = np.zeros(len(keys), dtype=np.int64)
        climbing = np.flatnonzero(self.code != self.hierarchy.root)
        ancestor = self.code[climbing]
        while len(climbing):
            ancestor = self.hierarchy.parent[ancestor].astype(np.int64)
            met = np.flatnonzero(present[ancestor])
            here = climbing[met]
            wanted = self.group[here] * width + ancestor[met]
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = keys[at] == wanted
            here, at = here[found], at[found]
            related[here] += self.n[at]
            np.add.at(related, at, self.n[here])
            below_root = ancestor != self.hierarchy.root
            climbing, ancestor = climbing[below_root], ancestor[below_root]
        return related
