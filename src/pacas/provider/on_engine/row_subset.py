"""Some rows of a relation that stays on the engine, with all that is needed to judge requests about them.

A neighbour follows from its row's number and the seed (D6), so that rows bring their neighbours along. With all rows of
the X-groups that requests touch, what the requests leave to these groups is counted as it is over the whole relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from pacas.core.anonymity import Policy
from pacas.engine.codes import coded_texts
from pacas.engine.grouping import Ints
from pacas.provider.column import Column
from pacas.provider.on_engine.relation_summary import RelationSummary
from pacas.provider.pricing.conflicts import Levels
from pacas.provider.pricing.knowledge import Knowledge
from pacas.provider.pricing.prices import CellPrices, Prices
from pacas.provider.safety.linked_values import LinkedValues
from pacas.provider.safety.surviving import RelationCounts, Surviving
from pacas.provider.support.cell_neighbours import CellNeighbours, cell_neighbours
from pacas.provider.support.edits import Edits
from pacas.provider.support.support_set import SupportSet

Depths = Mapping[str, Levels]
"""Per attribute: how many levels below the root each row's cell was bought."""


class RowSubset:
    """Rows by their numbers, which ascend, and their texts; neighbours of some of the protected attributes."""

    def __init__(self, summary: RelationSummary, rows: Ints, texts: pa.Table, attributes: Sequence[str]) -> None:
        self.rows, self._summary, self._attributes = rows, summary, attributes
        self.columns = {a: self._column(a, texts.column(a)) for a in texts.column_names}
        cells = {a: self._cells(a) for a in attributes}
        more, self._edit_numbers = summary.covering.of_rows(rows, attributes)
        self.support = SupportSet(cells, Edits.none()).with_more(more) if len(more) else SupportSet(cells, Edits.none())

    def _column(self, attribute: str, texts: pa.ChunkedArray) -> Column:
        if attribute in self._summary.columns:
            return self._summary.columns[attribute].with_rows(texts.to_pylist())
        return Column(attribute, coded_texts(texts), self._summary.terms.hierarchies.get(attribute))

    def _cells(self, attribute: str) -> CellNeighbours:
        column = self.columns[attribute]
        return cell_neighbours(
            attribute, column.cells, column.domain, self._summary.per_cell, self._summary.seed, rows=self.rows
        )

    @cached_property
    def heights(self) -> dict[str, int]:
        return {a: self.columns[a].hierarchy.height for a in self._attributes}

    def numbers(self, attribute: str) -> Ints:
        """The numbers that the cell neighbours of an attribute have in the whole support set."""
        first, sizes = self.support.cells[attribute].first, np.diff(self.support.cells[attribute].first)
        before = self._summary.of_a_cell[attribute] * self.rows + self._summary.covering.before(attribute, self.rows)
        within = np.arange(int(first[-1])) - np.repeat(first[:-1], sizes)
        numbers: Ints = self._summary.first[attribute] + np.repeat(before, sizes) + within
        return numbers

    @property
    def edit_numbers(self) -> Ints:
        """The numbers that the edits have in the whole support set."""
        return self._summary.first[None] + self._edit_numbers

    def prices(self, attribute: str) -> Prices:
        """What requests for an attribute cost."""
        weights = self._summary.weighing.of(self.numbers(attribute))
        cells = CellPrices.of(self.support.cells[attribute], weights, self.heights[attribute])
        return Prices({attribute: cells}, self._summary.weighing.of(self.edit_numbers))

    def known(self, depths: Depths) -> Knowledge:
        """What follows from cells that were bought: which edits, too, are ruled out."""
        edits = self.support.edits
        known = Knowledge(self.heights, len(self.rows), len(edits))
        for attribute, depth in depths.items():
            known.revealed[attribute][:] = depth
        for attribute, changed in edits.values.items():
            column, row = self.columns[attribute], edits.row[changed.patch]
            ancestors = column.hierarchy.ancestors
            apart = (ancestors[:, column.nodes[changed.code]] != ancestors[:, column.cells[row]]).sum(axis=0)
            known.ruled_out[changed.patch[apart > known.level(attribute, row)]] = True
        return known

    def linked(self, policies: Sequence[Policy]) -> list[LinkedValues]:
        """The X-groups of some policies, and what neighbours add to them and drop from them."""
        return [LinkedValues(policy, self.columns, self.support.cells, self.support.edits) for policy in policies]

    def surviving(self, depths: Depths, linked: Sequence[LinkedValues], in_all: RelationCounts) -> Surviving:
        """What purchases have left, as far as these rows show it."""
        support = self.support
        return Surviving(
            support.cells, support.edits, linked, self.heights, len(self.rows), known=self.known(depths), in_all=in_all
        )
