"""The ground values that an attribute may have, by the client's tree and by those of all who sell it.

Trees may differ: what a node means is the set of ground values at or below it, and nothing else of a tree matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pacas.core.distance import Floats, SemanticDistance
from pacas.core.hierarchy import Hierarchy, Mask
from pacas.core.histogram import Ints

OWN = None
"""The client's own table, as a source beside providers, who go by their names: what most cells of a class hold."""
SHOWN = ""
"""The same table's word that a class's value is one of those that stand in it. No provider is called so."""


class GroundValues:
    """Of one attribute; a value goes by its place."""

    def __init__(
        self, delta: SemanticDistance, own: Hierarchy, trees: Mapping[str, Hierarchy], first: Iterable[str] = ()
    ) -> None:
        """`own` is the client's tree; `delta` is the semantic distance as the client's column has its values.

        `first` are values that have their places already.
        """
        labels = dict.fromkeys([*first, *own.ground_labels])
        for tree in trees.values():
            labels |= dict.fromkeys(label for label in tree.ground_labels if label not in own)
        self.labels = list(labels)
        self.delta = delta.admit(self.labels)
        self._own: Ints = self.delta.hierarchy.encode(self.labels).astype(np.int64)
        self._trees: dict[str | None, Hierarchy] = {OWN: own, **dict(trees.items())}
        self._codes: dict[str | None, Ints] = {
            source: np.array([tree.code(v) if v in tree else -1 for v in self.labels], dtype=np.int64)
            for source, tree in self._trees.items()
        }
        self._places: dict[tuple[str | None, int], tuple[Ints, int]] = {}

    def __len__(self) -> int:
        return len(self.labels)

    def has_node(self, source: str | None, label: str) -> bool:
        """Whether a source's tree has a node of that name."""
        return label in self._trees[source]

    def now(self, trees: Mapping[str, Hierarchy], *, has_own: bool) -> GroundValues:
        """By the trees of now: what nobody knew comes behind all others. A client without a tree knows each value."""
        own = self._trees[OWN]
        told = [label for tree in trees.values() for label in tree.ground_labels]
        return GroundValues(self.delta, own if has_own else own.admit(told), trees, self.labels)

    def nodes(self, source: str | None, level: int) -> tuple[Ints, int]:
        """Per value: the number of the node of a level that it lies below, −1 for none; and how many nodes that has."""
        found = self._places.get((source, level))
        if found is None:
            tree, at = self._trees[source], self._codes[source]
            above = np.where(at >= 0, tree.ancestors[min(level, tree.height)][np.maximum(at, 0)], -1)
            numbers, node = np.unique(above[at >= 0], return_inverse=True)
            above[at >= 0] = node
            found = self._places[source, level] = (above.astype(np.int64), len(numbers))
        return found

    def base(self, source: str | None, label: str) -> Mask:
        """Which values lie at or below a node of a source's tree."""
        tree, known = self._trees[source], self._codes[source]
        below: Mask = tree.precedes(np.maximum(known, 0).astype(np.int32), tree.code(label))
        return below & (known >= 0)

    def expected_distances(self, belief: Floats, best: int) -> list[tuple[str, float]]:
        """The value at a place and what lies above it in the client's tree, finest first, with the δ to expect."""
        tree = self.delta.hierarchy
        lines = dict.fromkeys(int(row[self._own[best]]) for row in tree.ancestors)
        codes = self._own.astype(np.int32)
        found = []
        for node in lines:
            apart = self.delta.between_codes(np.full(len(codes), node, np.int32), codes)
            found.append((str(tree.label(node)), float((belief * apart).sum())))  # as long, and without more threads
        return found
