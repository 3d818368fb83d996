"""One attribute as it is weighed: a node of its tree per row, how values are spread, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pacas.core.distance import Floats, SemanticDistance
from pacas.core.hierarchy import Hierarchy, Mask
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn

FEW = 500
"""Codes of which all pairs are listed: a quarter of a million."""


class WeighedColumn:
    """An attribute's column; values go by their codes in its tree, which admits all that stands in the column."""

    def __init__(self, name: str, coded: CodedColumn, hierarchy: Hierarchy | None) -> None:
        self.name = name
        self.coded = coded
        self.tree = (hierarchy or Hierarchy.flat(())).admit([*coded.values, None])
        self.null = self.tree.code(None)
        self.codes: Ints = self.tree.encode(coded.values).astype(np.int64)[coded.codes]
        self.frequency: Ints = np.bincount(self.codes, minlength=len(self.tree)).astype(np.int64)
        self.known: Mask = self.tree.is_ground.copy()
        """Per code: may it be the truth? A ground value that the hierarchy knows may; without one, all that occur."""
        self.known[self.null] = False
        if hierarchy is not None:
            self.known[len(hierarchy) :] = False

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def height(self) -> int:
        return self.tree.height

    @cached_property
    def groups(self) -> Mask:
        """Per code: do rows that share it belong together? A null and a general value tie nothing."""
        ground: Mask = self.tree.is_ground.copy()
        ground[self.null] = False
        return ground

    @cached_property
    def delta(self) -> SemanticDistance:
        """δ as the client's own column has its values.

        Where these are one, all that would be nothing: then what is none counts, too, and of cells that are empty or
        hold the one value, empty ones as a value of their own.
        """
        there = self.frequency > 0
        values = self.known & there
        seen = np.flatnonzero(values if values.sum() > 1 else self.groups & there)
        labels = [self.tree.label(code) for code in seen.tolist()]
        delta = SemanticDistance.of(self.tree, labels, self.frequency[seen])
        if len(seen) != 1 or not self.frequency[self.null]:
            return delta
        cells = self.frequency[[*seen, self.null]]
        shares = cells / cells.sum()
        penalties = delta.penalties.copy()
        penalties[[self.tree.root, self.null]] = -(shares @ np.log2(shares))
        return replace(delta, penalties=penalties)

    @property
    def penalties(self) -> Floats:
        return self.delta.penalties

    @cached_property
    def _distances(self) -> Floats | None:
        """δ of all pairs of codes, where these are few."""
        if len(self) > FEW:
            return None
        codes = np.arange(len(self), dtype=np.int32)
        pairs = np.repeat(codes, len(self)), np.tile(codes, len(self))
        return self.delta.between_codes(*pairs).reshape(len(self), len(self))

    def distance(self, one: Ints, other: Ints) -> Floats:
        """δ of each pair of codes, of arrays of one shape."""
        if self._distances is not None:
            listed: Floats = self._distances[one, other]
            return listed
        pair = np.broadcast_arrays(one, other)
        flat = self.delta.between_codes(*(np.ascontiguousarray(codes).ravel().astype(np.int32) for codes in pair))
        return flat.reshape(pair[0].shape)

    @cached_property
    def share(self) -> Floats:
        """Per code: how likely a value is where nothing else is known: as often as it stands here, half a cell more."""
        share = np.where(self.known, self.frequency + 0.5, 0.0)
        return share / max(float(share.sum()), 0.5)

    @cached_property
    def strange(self) -> Floats:
        """Per code: how often it stands here, of all ground values that the hierarchy does not have."""
        seen = np.where(self.groups & ~self.known, self.frequency, 0)
        return np.asarray(seen / max(int(seen.sum()), 1))

    @cached_property
    def below(self) -> Floats:
        """Per code: the share of what lies at or below it."""
        mass = self.share.copy()
        at = np.flatnonzero(self.known)
        own = self.share[at]
        while len(at):
            at = self.tree.parent[at].astype(np.int64)
            np.add.at(mass, at, own)
            inside = at != self.tree.root
            at, own = at[inside], own[inside]
        return mass

    @cached_property
    def mean_distance(self) -> Floats:
        """Per code: its expected δ to a value drawn by `share`."""
        penalties, tree = self.penalties, self.tree
        at = np.arange(len(self))
        total, inside = self.below * penalties, at != tree.root
        while inside.any():
            up = np.where(inside, tree.parent[at], at).astype(np.int64)
            total += np.where(inside, np.maximum(self.below[up] - self.below[at], 0) * penalties[up], 0)
            at, inside = up, inside & (up != tree.root)
        mean: Floats = 2 * total - penalties * float(self.share.sum())
        mean[self.null] = penalties[tree.root]
        return mean

    @cached_property
    def level_penalties(self) -> Floats:
        """Per level: what is still unknown, on average, about a value that is known at it."""
        ground = np.flatnonzero(self.known)
        levels = range(self.height + 1)
        return np.array([float(self.share[ground] @ self.penalties[self.tree.ancestors[at][ground]]) for at in levels])

    @property
    def top(self) -> float:
        """The penalty of knowing nothing."""
        return float(self.penalties[self.tree.root])

    def labels(self, codes: Sequence[int]) -> list[str]:
        return [str(self.tree.label(code)) for code in codes]
