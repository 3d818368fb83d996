"""Values for a cell of a column: others that stand in it, and ones that stand nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from pacas.core.hierarchy import EXACT, NUMBER, Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn


class Domain:
    """A column's values but the null and the root, in the depth-first order of its hierarchy."""

    def __init__(self, column: CodedColumn, tree: Hierarchy) -> None:
        texts = {tree.code(value): value for value in reversed(column.values) if value is not None}
        texts.pop(tree.root, None)
        nodes = np.array(list(texts), dtype=np.int32)
        nodes = nodes[np.argsort(tree.enter[nodes])]
        self._tree = tree
        self._enter = tree.enter[nodes]
        self._texts = [texts[node] for node in nodes.tolist()]
        self._fresh = _fresh_values(self._texts, tree)

    def fresh(self) -> str:
        """A value that the column and the hierarchy do not have, nor any call before: a number among numbers."""
        return next(self._fresh)

    def others(self, node: Codes) -> Ints:
        """Per node: how many values of the domain are incomparable with it."""
        first, end, above = self._comparable(node)
        return np.asarray(len(self._enter) - (end - first) - (above >= 0).sum(axis=0))

    def draw(self, node: Codes, rng: np.random.Generator) -> list[str | None]:
        """For each node a value that is incomparable with it, all alike likely; None where there is none."""
        first, end, above = self._comparable(node)
        number = self.others(node)
        at = rng.integers(0, np.maximum(number, 1))
        for ancestor in above:  # the positions to skip, in ascending order
            at = at + ((ancestor >= 0) & (at >= ancestor))
        at = np.where(at >= first, at + end - first, at)
        return [self._texts[i] if n else None for i, n in zip(at.tolist(), number.tolist(), strict=True)]

    def _comparable(self, node: Codes) -> tuple[Ints, Ints, Ints]:
        """Per node: where the values below it begin and end; and the places of those above it, −1 for one not there."""
        first = np.searchsorted(self._enter, self._tree.enter[node])
        end = np.searchsorted(self._enter, self._tree.leave[node])
        above = np.full((self._tree.height, len(node)), -1, dtype=np.int64)
        ancestor = node
        for step in range(self._tree.height - 1, -1, -1):
            climbing = ancestor != self._tree.root
            ancestor = np.where(climbing, self._tree.parent[ancestor], ancestor)
            at, after = (np.searchsorted(self._enter, self._tree.enter[ancestor], side) for side in ("left", "right"))
            above[step] = np.where(climbing & (after > at), at, -1)
        return first, end, above


def _fresh_values(texts: list[str], tree: Hierarchy) -> Iterator[str]:
    numbers = [float(text) for text in texts if NUMBER.fullmatch(text)]
    largest = max(map(abs, numbers), default=EXACT)
    are_numbers = len(numbers) == len(texts) and largest < EXACT / 2
    for n in count(int(largest) + 1 if are_numbers else 1):
        value = str(n) if are_numbers else f"fresh-{n}"
        if value not in tree:
            yield value
