"""Attributes whose values are linked, as the index has them: which tuples are possible may follow public columns.

Where a dictionary has public columns on its left side, each of their values is a *case* with tuples of its own. All
else has one case, that of every row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.core.sealed.component import Component, LevelVector
from pacas.core.words import counted
from pacas.engine.grouping import Ints
from pacas.errors import InputError
from pacas.provider.quoter.public_index import PublicIndex


@dataclass(frozen=True, eq=False, repr=False)
class LinkedAttributes:
    """A component for each case: `values[i]` are the values of the `given` columns in case i."""

    cases: tuple[Component, ...]
    given: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ((),)

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.cases[0].attributes

    @property
    def heights(self) -> LevelVector:
        """The level vector at which nothing is told."""
        return self.cases[0].heights

    @property
    def may_be_absent(self) -> bool:
        """Whether a row may not be there at all: a level above the roots is then the one that tells nothing."""
        return self.cases[0].last_is_absent

    def case_of_rows(self, index: PublicIndex) -> Ints:
        """Per row its case."""
        if not self.given:
            return np.zeros(index.rows, dtype=np.int64)
        key = index.keys(self.given)
        _, first = np.unique(key, return_index=True)
        columns = [index.columns[name] for name in self.given]
        found = [tuple(column.values[column.codes[row]] for column in columns) for row in first.tolist()]
        number = {values: case for case, values in enumerate(self.values)}
        case = np.array([number.get(values, -1) for values in found], dtype=np.int64)[key]
        self.check_known(int((case < 0).sum()))
        return case

    def check_known(self, strange: int) -> None:
        """An error if so many rows are in no case."""
        if strange:
            named = ", ".join(self.given)
            rows = counted(strange, "row has", "rows have")
            raise InputError(f"{rows} values of {named} that the dictionary does not have; complete it")

    def or_absent(self, present: int, absent: int) -> LinkedAttributes:
        """The same of rows that may not be there."""
        return LinkedAttributes(tuple(c.or_absent(present, absent) for c in self.cases), self.given, self.values)

    def can_differ(self, attribute: str) -> bool:
        """Can two tuples of a case differ in an attribute?"""
        at = self.attributes.index(attribute)
        return any(bool((case.paths[at][0] != case.paths[at][0, 0]).any()) for case in self.cases)
