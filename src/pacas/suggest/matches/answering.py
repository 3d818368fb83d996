"""What a match would do: how surely its columns tell an attribute, and how many rows it would answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import Array, Keys, combine, mixed
from pacas.suggest.coded_table import CodedTable, ProfiledColumn

SOME_ROWS, SEED = 40_000, 1
"""Rows that are looked at while many columns are tried together."""


@dataclass(frozen=True, slots=True)
class SuggestedMatch:
    """Columns to match by, and what speaks for them."""

    attribute: str
    columns: tuple[str, ...]
    """The provider's."""
    tells: float
    """The share of the groups of these columns whose rows all have one value."""
    answers: float
    """The share of the client's rows that find such a group; without a client, of the table's own."""
    groups: int
    largest: int
    """Rows of the largest group."""
    alone: float
    """The share of the table's rows that are a group of their own."""
    identifies: bool
    """Whether most groups are one row: who is found is one person, or one thing."""

    @property
    def fd(self) -> FunctionalDependency:
        """What it says, if each group has one value."""
        return FunctionalDependency(self.columns, self.attribute)


@dataclass(frozen=True, eq=False)
class AskingRows:
    """A provider's rows, and the rows that ask, by the provider's codes of each column that both have."""

    table: CodedTable
    asked: Mapping[str, Array]
    """−1 where a row that asks has no value, or one that the provider has not."""
    asking: int

    @classmethod
    def own(cls, table: CodedTable) -> AskingRows:
        """The provider's own rows ask."""
        return cls(table, {name: column.codes for name, column in table.columns.items()}, table.rows)

    @classmethod
    def of(cls, table: CodedTable, client: CodedTable, columns: Mapping[str, str]) -> AskingRows:
        """A client's rows ask; `columns` says which of the client's columns is which of the provider's."""
        asked = {theirs: _in_their_codes(client[own], table[theirs]) for own, theirs in columns.items()}
        return cls(table, asked, client.rows)

    def judged(self, attribute: str, columns: Sequence[str]) -> SuggestedMatch:
        """What a match by these columns would tell of an attribute."""
        return self._judged(attribute, columns, slice(None), slice(None), self.asking)

    def guessed(self, attribute: str, columns: Sequence[str]) -> SuggestedMatch:
        """The same, by whole groups of some of the rows, where there are many."""
        if self.table.rows <= SOME_ROWS:
            return self.judged(attribute, columns)
        pivot = max(columns, key=self._space)
        order = np.random.default_rng(SEED).permutation(self._space(pivot))
        enough = np.searchsorted(np.cumsum(self.table[pivot].counts[order]), SOME_ROWS) + 1
        is_kept = np.zeros(self._space(pivot) + 1, dtype=np.bool_)
        is_kept[order[:enough]] = True  # −1 finds the last, which is not
        asks = np.flatnonzero(is_kept[self.asked[pivot]])
        present = int((self.asked[pivot] >= 0).sum())
        of = len(asks) * self.asking // max(present, 1)
        return self._judged(attribute, columns, np.flatnonzero(is_kept[self.table[pivot].codes]), asks, of)

    def _judged(
        self, attribute: str, columns: Sequence[str], rows: Array | slice, asking: Array | slice, of: int
    ) -> SuggestedMatch:
        value = self.table[attribute].codes[rows]
        both = [
            Keys(np.concatenate([self.table[c].codes[rows], self.asked[c][asking]]), self._space(c), True)
            for c in columns
        ]
        keys = combine(both)
        own, asks = keys.key[: len(value)], keys.key[len(value) :]
        sizes = np.bincount(own[own >= 0], minlength=keys.space)
        several = mixed(Keys(own, keys.space, True), value)
        groups = int((sizes > 0).sum())
        answered = (asks >= 0) & ((sizes > 0) & ~several)[asks]
        return SuggestedMatch(
            attribute,
            tuple(columns),
            (groups - int(several.sum())) / groups if groups else 1.0,
            float(answered.sum() / max(of, 1)),
            groups,
            int(sizes.max(initial=0)),
            float((sizes == 1).sum() / max(len(value), 1)),
            2 * int((sizes == 1).sum()) > groups,
        )

    def _space(self, column: str) -> int:
        return max(len(self.table[column].values), 1)


def _in_their_codes(own: ProfiledColumn, theirs: ProfiledColumn) -> Array:
    number = {value: code for code, value in enumerate(theirs.values)}
    code_of = np.array([number.get(value, -1) for value in own.values] + [-1], dtype=np.int32)
    return code_of[own.codes]
