"""How far apart two values are: the entropy-based penalty E and the semantic distance δ.

Paper: Defs 5 and 6, §3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Codes, Hierarchy

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SemanticDistance:
    """E and δ for one attribute, as its values are distributed in one ground column.

    >>> ages = "51 45 32 67 61 79".split()
    >>> rows = [(a, "[31,60]" if a < "60" else "[61,90]", "*") for a in ages]
    >>> delta = SemanticDistance.of(Hierarchy.from_rows(rows), ages)
    >>> round(delta.penalty("[31,60]"), 3), round(delta("45", "51"), 3)
    (0.792, 1.585)
    """

    hierarchy: Hierarchy
    penalties: Floats
    """E per code of the hierarchy."""
    left_out: int = 0
    """How many cells of the column did not count: nulls and general values."""

    def __repr__(self) -> str:
        return f"SemanticDistance({self.hierarchy!r}, {self.left_out:,} cells left out)"

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, values: Sequence[str | None], counts: Sequence[int] | NDArray[np.int64] | None = None
    ) -> SemanticDistance:
        """From a column, or from its distinct values with their counts.

        A value that the hierarchy does not know is a leaf under the root (D1); nulls and general values are left out.
        """
        known = hierarchy.admit([*values, None])
        codes = known.encode(values)
        n = np.ones(len(codes), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
        counted = known.is_ground[codes] & (codes != known.code(None))
        penalties = _penalties(known, codes[counted], n[counted])
        penalties[known.code(None)] = penalties[known.root]  # D2: a null counts as the root
        return cls(known, penalties, int(n[~counted].sum()))

    def penalty(self, value: str | None) -> float:
        """E(v): the information lost when v stands for the ground values below it; 0 for an unknown value (D2)."""
        return float(self.penalties[self.hierarchy.code(value)]) if value in self.hierarchy else 0.0

    def __call__(self, v: str | None, w: str | None) -> float:
        """δ(v, w): along one branch the difference of penalties, else through the least common ancestor."""
        return float(self.between([v], [w])[0])

    def between(self, v: Sequence[str | None], w: Sequence[str | None]) -> Floats:
        """δ of each pair; values that the hierarchy does not know are admitted."""
        known = self.admit([*v, *w])
        return known.between_codes(known.hierarchy.encode(v), known.hierarchy.encode(w))

    def admit(self, values: Iterable[str | None]) -> SemanticDistance:
        """δ on a hierarchy with these values in it, too; new ones lose nothing by themselves (D2)."""
        hierarchy = self.hierarchy.admit(values)
        penalties = np.append(self.penalties, np.zeros(len(hierarchy) - len(self.hierarchy)))
        return SemanticDistance(hierarchy, penalties, self.left_out)

    def between_codes(self, v: Codes, w: Codes) -> Floats:
        """δ of each pair of codes of the hierarchy."""
        return _distances(self.hierarchy, self.penalties, v, w)

    def lca(self, v: str | None, w: str | None) -> str | None:
        hierarchy = self.hierarchy.admit([v, w])
        if v is None or w is None:
            return hierarchy.root_label
        return hierarchy.label(hierarchy.lca(hierarchy.code(v), hierarchy.code(w)).item())


def _penalties(hierarchy: Hierarchy, codes: Codes, n: NDArray[np.int64]) -> Floats:
    """E(v) = P·H = (N_v log N_v − Σ n log n) / N, over the ground values below v."""
    total = n.sum()
    ground = np.bincount(codes, weights=n, minlength=len(hierarchy))
    mass, inner = ground.copy(), ground * np.log2(np.maximum(ground, 1))
    ancestor = np.flatnonzero(ground).astype(np.int32)
    own, spread = mass[ancestor], inner[ancestor]
    while len(ancestor):
        ancestor = hierarchy.parent[ancestor]
        np.add.at(mass, ancestor, own)
        np.add.at(inner, ancestor, spread)
        below = ancestor != hierarchy.root
        ancestor, own, spread = ancestor[below], own[below], spread[below]
    penalties = (mass * np.log2(np.maximum(mass, 1)) - inner) / max(int(total), 1)
    penalties[hierarchy.is_ground] = 0.0
    return np.maximum(penalties, 0.0)


def _distances(hierarchy: Hierarchy, penalties: Floats, v: Codes, w: Codes) -> Floats:
    null = hierarchy.code(None)
    v, w = (np.where(codes == null, hierarchy.root, codes).astype(np.int32) for codes in (v, w))
    meet = hierarchy.lca(v, w)
    return np.abs(penalties[meet] - penalties[v]) + np.abs(penalties[meet] - penalties[w])
