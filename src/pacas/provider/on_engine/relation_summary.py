"""What is known of a relation that stays on the engine: values and how often each occurs, and what follows from them.

All of it is small. With it the neighbours, weights and prices of any rows follow from these rows alone (`RowSubset`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pacas.core.anonymity import Policy
from pacas.engine.grouping import Ints
from pacas.provider.column import Column
from pacas.provider.on_engine.covering_neighbours import CoveringNeighbours
from pacas.provider.support.support_set import Generated
from pacas.provider.support.weights import Weighing, check_weights
from pacas.provider.terms import Terms

NO_POLICY = -(1 << 62)


@dataclass(frozen=True, eq=False, repr=False)
class RelationSummary:
    """A relation by its terms, its number of rows, and its protected columns' values."""

    terms: Terms
    rows: int
    columns: Mapping[str, Column]
    """The protected ones; their rows come as parts."""
    seed: bytes
    covering: CoveringNeighbours

    @property
    def per_cell(self) -> int:
        assert isinstance(self.terms.support, Generated)
        return self.terms.support.per_cell

    @cached_property
    def of_a_cell(self) -> dict[str, int]:
        """How many neighbours each cell of an attribute has, covering ones aside: none, if it has one value."""
        return {a: self.per_cell * bool(column.domain.is_ground.sum() > 1) for a, column in self.columns.items()}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cell neighbours each attribute has."""
        return {a: n * self.rows + self.covering.count(a) for a, n in self.of_a_cell.items()}

    @cached_property
    def first(self) -> dict[str | None, int]:
        """The first number of each attribute's cell neighbours, and, under None, that of the edits."""
        numbers = np.cumsum([0, *self.counts.values()]).tolist()
        return dict(zip((*self.counts, None), numbers, strict=True))

    @cached_property
    def neighbours(self) -> int:
        return sum(self.counts.values()) + len(self.covering.edit_rows)

    @cached_property
    def weighing(self) -> Weighing:
        """What neighbours weigh, by their numbers."""
        total, counts, factors = self.terms.weight_runs(self.counts, len(self.covering.edit_rows))
        check_weights(total, counts, factors)
        return Weighing(total, counts, factors)

    def extreme_weights(self, attribute: str) -> Ints:
        """What the heaviest and the lightest neighbour of an attribute weigh: in a run these are the first and last."""
        first, count = self.first.get(attribute, 0), self.counts.get(attribute, 0)
        return self.weighing.of(np.array([first, first + count - 1] if count else [], dtype=np.int64))

    @cached_property
    def most_droppers(self) -> int:
        """No pair is dropped by more neighbours: only those of R's one row that has it drop it."""
        widest = max((len(policy.y) for policy in self.terms.policies), default=None)
        return NO_POLICY if widest is None else widest * self.per_cell + self.covering.most_of_a_row

    def bearing_on(self, attribute: str) -> tuple[tuple[Policy, ...], tuple[str, ...]]:
        """The policies that a sale of an attribute bears on, and the attributes whose neighbours then matter.

        Edits change several attributes, so where there are some, one policy leads to the next.
        """
        reached = {attribute}
        while True:
            policies = tuple(policy for policy in self.terms.policies if reached & set(policy.y))
            more = {attribute}.union(*(policy.y for policy in policies))
            if not len(self.covering.edit_rows) or more <= reached:
                return policies, tuple(a for a in self.terms.protected if a in more)
            reached = more
