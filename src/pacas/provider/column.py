"""One attribute of the provider's relation, as codes: what rows hold, and what neighbours may put in their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from pacas.core.hierarchy import Codes, Hierarchy
from pacas.engine.codes import CodedColumn, linked_keys
from pacas.engine.grouping import Array, Keys
from pacas.errors import InputError


class Column:
    """A column of R. A code stands for a text; `values` also holds texts that only neighbours have.

    The hierarchy is the attribute's own, or the two-level one over the column's values. `nodes` is the node of each
    code: 51 and 51.0 are two codes and, under a numeric hierarchy, one node.
    """

    def __init__(
        self, attribute: str, column: CodedColumn, hierarchy: Hierarchy | None, others: Iterable[str | None] = ()
    ) -> None:
        self.attribute = attribute
        self.declared = hierarchy
        known = set(column.values)
        new = [value for value in dict.fromkeys(others) if value not in known]
        texts = [v for v in (*column.values, *new) if v is not None]
        self.values: list[str | None] = [*texts, None]
        self.codes: Codes = _recoded(column, len(texts))

    def __len__(self) -> int:
        return len(self.codes)

    def with_rows(self, texts: Iterable[str | None]) -> Column:
        """Other rows of the same attribute, whose texts are all known here."""
        other = Column.__new__(Column)
        other.__dict__.update({name: getattr(self, name) for name in _SHARED})
        try:
            other.codes = np.fromiter(map(self.code.__getitem__, texts), np.int32)
        except KeyError:
            raise InputError(
                f"{self.attribute!r} holds a value that it did not hold when the provider started; start it again, "
                "with a relation that nobody changes meanwhile"
            ) from None
        return other

    @cached_property
    def counts(self) -> Array:
        """How many rows have each code."""
        return np.bincount(self.codes, minlength=len(self.values))

    @cached_property
    def code(self) -> dict[str | None, int]:
        """The code of each text; an empty one is null."""
        return {**{value: code for code, value in enumerate(self.values)}, "": len(self.values) - 1}

    @cached_property
    def domain(self) -> Hierarchy:
        """The attribute's own hierarchy: its ground values are what a cell may be believed to hold."""
        if self.declared is not None:
            return self.declared
        used = np.flatnonzero(self.counts)
        return Hierarchy.flat(sorted(str(self.values[c]) for c in used if self.values[c] is not None))

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy with every text of the column and of the neighbours in it."""
        return self.domain.admit(self.values)

    @cached_property
    def nodes(self) -> Codes:
        """The node of each code."""
        return self.hierarchy.encode(self.values)

    @cached_property
    def cells(self) -> Codes:
        """The node of each row's value."""
        return self.nodes.take(self.codes)

    @cached_property
    def code_of_node(self) -> Codes:
        """A code whose node it is, for each node that is the node of some code; −1 for the others."""
        codes = np.full(len(self.hierarchy), -1, dtype=np.int32)
        codes[self.nodes[::-1]] = np.arange(len(self.values), dtype=np.int32)[::-1]
        return codes

    def keys(self, codes: Codes) -> Keys:
        """As X-groups are made: texts that compare as equal share a key, and a null has none."""
        return linked_keys(self.coded(codes), self.declared)

    def coded(self, codes: Codes | None = None) -> CodedColumn:
        """The column, or other rows of the same attribute."""
        return CodedColumn(self.codes if codes is None else codes, self.values)

    @classmethod
    def counted(
        cls,
        attribute: str,
        values: Sequence[str | None],
        counts: Array,
        hierarchy: Hierarchy | None,
        others: Sequence[str],
    ) -> Column:
        """A column of which only the values and how often each occurs are known; its rows come as parts."""
        column = cls(attribute, CodedColumn(np.arange(len(values)), list(values)), hierarchy, others)
        of_code = np.zeros(len(column.values), dtype=np.int64)
        of_code[column.codes] = counts
        column.counts = of_code
        return column


_SHARED = ("attribute", "declared", "values", "code", "domain", "hierarchy", "nodes", "code_of_node")
"""What all rows of an attribute have in common."""


def _recoded(column: CodedColumn, null: int) -> Codes:
    """The column's codes, with the null's moved behind all texts."""
    codes: Codes = column.codes.astype(np.int32)
    if column.values and column.values[-1] is None:
        codes[codes == len(column.values) - 1] = null
    return codes
