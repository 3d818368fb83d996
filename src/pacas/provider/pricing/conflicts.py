"""From requests to the neighbours that their answers can rule out.

Paper: §5.1 and Alg. 1, G(T) ≠ G(R). A request is answered from the rows that its tuple matches. In a neighbour some of
these may hold another value, be gone, or have others beside them, so the match is made twice: in R, and in the patches
of all edits at once. An edit answers as R does iff some row matches in it and every patch that matches has R's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Codes, Mask
from pacas.engine.contract import Hierarchies
from pacas.engine.grouping import NONE, Groups, Ints, spread
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Offer
from pacas.provider.column import Column
from pacas.provider.matching import Matcher, Matches
from pacas.provider.support.edits import Edits

Levels = NDArray[np.int8]

_NO_EDITS = (NONE, NONE, np.empty(0, dtype=np.int8))


@dataclass(frozen=True, eq=False, repr=False)
class ConflictSets:
    """For each of many requests for one attribute: the neighbours that its answer can rule out.

    Request i is about the rows `rows[offsets[i] : offsets[i + 1]]`: a neighbour of one of these cells is told from R at
    every level below its divergence. So is an edit: `edit[j]` by request `edit_request[j]`, below `edit_divergence[j]`.

    Two requests, about rows 7 and 4, and about row 4 alone; the second also tells edit 5 from R below level 1. Bought
    at levels 2 and 1, row 4 is known at level 1 and row 7 at level 2.

    >>> offsets, rows = np.array([0, 2, 3]), np.array([7, 4, 4])
    >>> sets = ConflictSets("MED", offsets, rows, np.array([1]), np.array([5]), np.array([1], dtype=np.int8))
    >>> known_rows, lowest = sets.lowest(np.array([2, 1]))
    >>> known_rows.tolist(), lowest.tolist()
    ([4, 7], [1, 2])
    """

    attribute: str
    offsets: Ints
    rows: Ints
    edit_request: Ints
    edit: Ints
    edit_divergence: Levels

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lowest(self, levels: Ints) -> tuple[Ints, Ints]:
        """The rows that requests at these levels are about, each once, and the lowest level of each."""
        of_row = np.repeat(levels, np.diff(self.offsets))
        order = np.lexsort((of_row, self.rows))
        rows, of_row = self.rows[order], of_row[order]
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = rows[1:] != rows[:-1]
        return rows[first], of_row[first]


def without_edits(attribute: str, offsets: Ints, rows: Ints) -> ConflictSets:
    """Conflict sets of requests that no edit has to do with."""
    return ConflictSets(attribute, offsets, rows, *_NO_EDITS)


class MatchedRequests(NamedTuple):
    """Tuples, matched. Those that match the same rows are one request: `of` says which request each tuple is.

    Per request its conflict set, how many rows it matches, and from which level on these show one value.
    """

    of: Ints
    sets: ConflictSets
    matches: Ints
    agree: Ints


class Inquiry:
    """All that a request for one attribute is looked up in."""

    def __init__(
        self,
        attribute: str,
        dependency: MatchingDependency,
        columns: Mapping[str, Column],
        edits: Edits,
        hierarchies: Hierarchies,
        max_matches: int,
    ) -> None:
        column = columns[attribute]
        coded = {a: columns[a].coded() for a in dependency.provider_columns}
        self.matcher = Matcher(dependency, coded, hierarchies)
        self.offer = Offer(attribute, self.matcher.client_columns, column.domain)
        self.hierarchy, self._cells = column.hierarchy, column.cells
        self.max_matches = max_matches
        self._patched = _Patched.of(attribute, dependency, columns, edits, hierarchies)

    @property
    def has_edits(self) -> bool:
        return self._patched is not None

    def ask(self, tuples: Columns, *, limited: bool = True, too_many: Mask | None = None) -> MatchedRequests:
        """Match many tuples. Of one that matches too many rows nothing is found, unless it is not `limited`.

        Tuples that are known to match `too_many` have no rows here.
        """
        most = self.max_matches if limited else max(self.max_matches, len(self._cells))
        matches = self.matcher.match_columns(tuples, most)
        if too_many is not None:
            matches = Matches(matches.rows, matches.starts, np.where(too_many, most + 1, matches.sizes))
        if self._patched is None:  # what matches the same rows is the same request
            same = np.where(matches.sizes > most, -2, np.where(matches.sizes > 0, matches.starts, -1))
            _, first, of = np.unique(same, return_index=True, return_inverse=True)
            matches = Matches(matches.rows, matches.starts[first], matches.sizes[first])
        else:
            of = np.arange(len(matches))
        usable = matches.sizes * (matches.sizes <= most)
        offsets = np.concatenate([_ZERO, np.cumsum(usable)])
        rows = matches.rows[spread(matches.starts, usable)]
        edits = _NO_EDITS
        if self._patched is not None:
            truth = np.zeros(len(usable), dtype=np.int64)
            truth[usable > 0] = self._cells[rows[offsets[:-1][usable > 0]]]
            edits = self._patched.find(tuples, rows, offsets, truth, self.hierarchy.ancestors)
        sets = ConflictSets(self.offer.attribute, offsets, rows, *edits)
        return MatchedRequests(of, sets, matches.sizes, self.agreeing(rows, offsets))

    def value(self, row: int, level: int) -> str:
        """What a row's cell is at a level."""
        return str(self.hierarchy.label(self.hierarchy.ancestors[level, self._cells[row]]))

    def agreeing(self, rows: Ints, offsets: Ints) -> Ints:
        """The lowest level at which each request's rows show one value."""
        agree = np.zeros(len(offsets) - 1, dtype=np.int64)
        several = np.flatnonzero(np.diff(offsets) > 1)
        if not len(several):
            return agree
        sizes = np.diff(offsets)[several]
        mine = rows[spread(offsets[several], sizes)]
        starts = np.cumsum(sizes) - sizes
        for level in range(self.hierarchy.height):
            at_level = self.hierarchy.ancestors[level, self._cells[mine]]
            apart = np.minimum.reduceat(at_level, starts) != np.maximum.reduceat(at_level, starts)
            agree[several[apart]] = level + 1
        return agree


_ZERO = np.zeros(1, dtype=np.int64)


class _Patched:
    """The patches of edits that can matter to requests for one attribute."""

    def __init__(self, edits: Edits, patches: Ints, matcher: Matcher, standing: Ints, nodes: Codes, rows: int) -> None:
        self._edit_of = edits.neighbour[patches]
        self._of_row = Groups.of(edits.row[patches], rows)
        self._matcher = matcher
        self._standing_edit = edits.neighbour[standing]
        self._standing_node = nodes
        self._edits = len(edits)

    @classmethod
    def of(
        cls,
        attribute: str,
        dependency: MatchingDependency,
        columns: Mapping[str, Column],
        edits: Edits,
        hierarchies: Hierarchies,
    ) -> _Patched | None:
        used = list(dict.fromkeys([attribute, *dependency.provider_columns]))
        matters = edits.gone | (edits.row < 0)
        for a in used:
            if a in edits.values:
                matters[edits.values[a].patch] = True
        patches = np.flatnonzero(matters)
        if not len(patches):
            return None
        standing = patches[~edits.gone[patches]]
        coded = {a: columns[a].coded(edits.column(a, columns[a].codes)[standing]) for a in used}
        nodes = columns[attribute].nodes[coded[attribute].codes]
        matcher = Matcher(dependency, coded, hierarchies)
        return cls(edits, patches, matcher, standing, nodes, len(columns[attribute]))

    def find(
        self, tuples: Columns, rows: Ints, offsets: Ints, truth: Ints, ancestors: Codes
    ) -> tuple[Ints, Ints, Levels]:
        """(request, edit, divergence) of the edits that some level tells from R."""
        matched = np.diff(offsets)
        touched = self._touched(rows, matched)
        found = self._matcher.match_columns(tuples)
        request, patch = self._matching(found, matched)
        edit = self._standing_edit[patch]
        key = np.concatenate([touched, request * self._edits + edit])
        keys, place = np.unique(key, return_inverse=True)
        remaining = matched[keys // self._edits]
        np.subtract.at(remaining, place[: len(touched)], 1)
        np.add.at(remaining, place[len(touched) :], 1)
        divergence = np.zeros(len(keys), dtype=np.int8)
        apart = (ancestors[:, truth[request]] != ancestors[:, self._standing_node[patch]]).sum(axis=0)
        np.maximum.at(divergence, place[len(touched) :], apart.astype(np.int8))
        divergence[remaining == 0] = len(ancestors)
        told = np.flatnonzero(divergence)
        return keys[told] // self._edits, keys[told] % self._edits, divergence[told]

    def _touched(self, rows: Ints, matched: Ints) -> Ints:
        """(request, edit), as one number, for each patch in the place of a row that matches."""
        starts = self._of_row.offsets[rows]
        sizes = self._of_row.offsets[rows + 1] - starts
        request = np.repeat(np.repeat(np.arange(len(matched)), matched), sizes)
        touched: Ints = request * self._edits + self._edit_of[self._of_row.members[spread(starts, sizes)]]
        return touched

    def _matching(self, found: Matches, matched: Ints) -> tuple[Ints, Ints]:
        """(request, patch) for each patch that matches a request that R answers."""
        sizes = found.sizes * (matched > 0)
        return np.repeat(np.arange(len(sizes)), sizes), found.rows[spread(found.starts, sizes)]
