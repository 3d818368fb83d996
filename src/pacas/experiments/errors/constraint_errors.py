"""Errors that break a dependency X → A, after BART: where they can be put, and which values they take.

A place is a tuple of an X-group that agrees on A. On the right side, A gets a value that is incomparable with all that
the group holds. On the left side, one attribute of X gets the value by which the tuple joins another group, one that
agrees on a value incomparable with the tuple's own. At most half of a group is touched, so that the rest still shows
what is wrong. A group of one row shows nothing, and one that violates the dependency already is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import count

import numpy as np

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import EXACT, NUMBER, Codes, Hierarchy, Mask
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn
from pacas.experiments.errors.dirty_relation import ErrorKind
from pacas.experiments.errors.error_columns import ErrorBatch, ErrorColumns

DRAWS = 8
"""How many tuples are tried, per attribute of X, in search of a group to join."""


class Side(StrEnum):
    """Which side of a dependency is changed."""

    RHS = "rhs"
    LHS = "lhs"


class CleanGroups:
    """A dependency's X-groups in the clean relation, and how far each may be touched."""

    def __init__(self, columns: ErrorColumns, fd: FunctionalDependency, number: int, *, one_each: bool) -> None:
        self.columns, self.fd, self.number = columns, fd, number
        self.group = columns.groups(fd.lhs).key
        self.tree, self.node = columns.nodes(fd.rhs)
        grouped = np.flatnonzero(self.group >= 0)
        self.sizes = np.bincount(self.group[grouped], minlength=1)
        self.room = np.minimum(self.sizes // 2, 1) if one_each else self.sizes // 2
        """Per group: how many more errors it can take."""
        self.agrees, self.top = self._tops(grouped)

    def _tops(self, grouped: Ints) -> tuple[Mask, Codes]:
        """Per group: do its values lie on one path of the hierarchy, and which is the most general of them?

        The ancestors of a value come before it in depth-first order, so the last of a path lies below all others.
        """
        group, enter = self.group[grouped], self.tree.enter[self.node[grouped]]
        first = np.full(len(self.sizes), len(self.tree) - 1, dtype=np.int64)
        last = np.zeros(len(self.sizes), dtype=np.int64)
        np.minimum.at(first, group, enter)
        np.maximum.at(last, group, enter)
        in_order = np.argsort(self.tree.enter).astype(np.int32)
        astray = ~self.tree.precedes(in_order[last[group]], self.node[grouped])
        agrees = self.sizes > 0
        agrees[group[astray]] = False
        return agrees, in_order[first]

    @property
    def violating(self) -> int:
        """How many groups violate the dependency."""
        return int(((self.sizes > 0) & ~self.agrees).sum())

    @cached_property
    def domain(self) -> Domain:
        return Domain(self.columns.column(self.fd.rhs), self.tree)

    def take_room(self, groups: Ints, most: int) -> Ints:
        """The positions of the first groups that have room for one error more each; `most` of them at most."""
        order = np.argsort(groups, kind="stable")
        in_order = groups[order]
        rank = np.empty(len(groups), dtype=np.int64)
        rank[order] = np.arange(len(groups)) - np.searchsorted(in_order, in_order)
        fitting = np.flatnonzero(rank < self.room[groups])[:most]
        np.subtract.at(self.room, groups[fitting], 1)
        return fitting


def no_place(what: object, groups: CleanGroups) -> str:
    """Why a side of a dependency has no place for an error."""
    alone, agreeing = int((groups.sizes == 1).sum()), int((groups.agrees & (groups.sizes > 1)).sum())
    return (
        f"no place for a detectable error of {str(what)!r}: {agreeing:,} groups of several rows agree, {alone:,} are "
        f"of one row, {groups.violating:,} violate the dependency already; give another dependency, or cleaner data"
    )


@dataclass(frozen=True, eq=False, slots=True)
class ErrorCandidates:
    """Rows that may get an error each, the group that will show it, and, on the left side, what it takes."""

    rows: Ints
    group: Ints
    attribute: Ints
    """Which attribute of X changes."""
    donor: Ints
    """The row whose value it takes."""

    def __getitem__(self, chosen: Ints) -> ErrorCandidates:
        return ErrorCandidates(self.rows[chosen], self.group[chosen], self.attribute[chosen], self.donor[chosen])


class Places:
    """The tuples, in random order, that one side of a dependency may put an error into; each is offered once."""

    def __init__(self, groups: CleanGroups, side: Side, kinds: Sequence[ErrorKind], rng: np.random.Generator) -> None:
        self.groups, self.side, self._kinds, self._rng = groups, side, kinds, rng
        self._waiting = rng.permutation(self._rhs_rows() if side is Side.RHS else self._lhs_rows())

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, most: int, taken: Mask) -> ErrorBatch:
        """Up to so many errors in tuples that have none; fewer only if there are no more."""
        made: list[ErrorBatch] = []
        while most > 0 and len(self._waiting):
            ready, self._waiting = np.split(self._waiting, [max(4 * most, CHUNK)])
            ready = ready[~taken[ready]]
            found = self._candidates(ready)
            found = found[self.groups.take_room(found.group, most)]
            made.append(self._lhs(found) if self.side is Side.LHS else self._rhs(found.rows))
            most -= len(found.rows)
            if not most:  # what comes after the last one can still be offered
                last = int(np.flatnonzero(ready == found.rows[-1])[0])
                self._waiting = np.concatenate([ready[last + 1 :], self._waiting])
        return ErrorBatch.joined(made)

    def _candidates(self, rows: Ints) -> ErrorCandidates:
        if self.side is Side.LHS:
            return self._to_join(rows)
        return ErrorCandidates(rows, self.groups.group[rows], np.full(len(rows), -1), np.full(len(rows), -1))

    # ---- the right side -----------------------------------------------------------------------------------------

    def _rhs_rows(self) -> Ints:
        g = self.groups
        shown = g.agrees & (g.sizes > 1) & (g.top != g.tree.root)
        rows: Ints = np.flatnonzero((g.group >= 0) & shown[g.group])
        null = g.tree.code(None) if None in g.tree else -1
        rows = rows[g.node[rows] != null]
        if ErrorKind.RHS_FRESH not in self._kinds:
            rows = rows[g.domain.others(g.top)[g.group[rows]] > 0]
        return rows

    def _rhs(self, rows: Ints) -> ErrorBatch:
        g = self.groups
        kinds = np.array(self._kinds, dtype=object)[self._rng.integers(0, len(self._kinds), len(rows))]
        new = np.array(g.domain.draw(g.top[g.group[rows]], self._rng), dtype=object)
        kinds[np.array([value is None for value in new], dtype=np.bool_)] = ErrorKind.RHS_FRESH
        fresh = np.flatnonzero(kinds == ErrorKind.RHS_FRESH)
        new[fresh] = [g.domain.fresh() for _ in fresh]
        return ErrorBatch.of(rows, g.fd.rhs, g.columns.texts(g.fd.rhs, rows), new, kinds, g.number)

    # ---- the left side ------------------------------------------------------------------------------------------

    def _lhs_rows(self) -> Ints:
        g = self.groups
        return np.flatnonzero((g.group >= 0) & g.agrees[g.group] & (g.node != g.tree.root))

    @cached_property
    def _hosts(self) -> list[Hosts]:
        return [Hosts(self.groups, attribute) for attribute in self.groups.fd.lhs]

    def _to_join(self, rows: Ints) -> ErrorCandidates:
        """For each row that has one within so many draws: a row of a group that it clashes with, one attribute away."""
        attributes = len(self._hosts)
        first = self._rng.integers(0, attributes, len(rows))
        donor = np.full(len(rows), -1, dtype=np.int64)
        attribute = np.zeros(len(rows), dtype=np.int64)
        for turn in range(attributes):
            for number, hosts in enumerate(self._hosts):
                seeking = np.flatnonzero((donor < 0) & ((first + turn) % attributes == number))
                donor[seeking] = hosts.draw(rows[seeking], self._rng)
                attribute[seeking] = number
        found = np.flatnonzero(donor >= 0)
        return ErrorCandidates(rows[found], self.groups.group[donor[found]], attribute[found], donor[found])

    def _lhs(self, found: ErrorCandidates) -> ErrorBatch:
        made = []
        for number, attribute in enumerate(self.groups.fd.lhs):
            here = found.attribute == number
            rows, donors = found.rows[here], found.donor[here]
            old, new = (self.groups.columns.texts(attribute, r) for r in (rows, donors))
            made.append(
                ErrorBatch.of(rows, attribute, old, new, [ErrorKind.LHS_DOMAIN] * len(rows), self.groups.number)
            )
        return ErrorBatch.joined(made)


CHUNK = 4096
"""Tuples that are looked at together, at least."""


class Hosts:
    """The tuples of groups that can take another in, by all of X but one attribute."""

    def __init__(self, groups: CleanGroups, attribute: str) -> None:
        self._groups = groups
        context = groups.columns.groups(tuple(a for a in groups.fd.lhs if a != attribute)).key
        hosting = groups.agrees & (groups.sizes > 1)
        rows = np.flatnonzero((groups.group >= 0) & hosting[groups.group])
        order = np.argsort(context[rows], kind="stable")
        self._rows = rows[order]
        self._context = context
        self._keys = context[self._rows]

    def draw(self, rows: Ints, rng: np.random.Generator) -> Ints:
        """For each row a host of another group whose values are incomparable with the row's own, or −1."""
        g = self._groups
        start = np.searchsorted(self._keys, self._context[rows])
        count = np.searchsorted(self._keys, self._context[rows], side="right") - start
        drawn = np.full(len(rows), -1, dtype=np.int64)
        for _ in range(DRAWS):
            open_ = np.flatnonzero((drawn < 0) & (count > 0))
            host = self._rows[start[open_] + rng.integers(0, count[open_])]
            elsewhere = g.group[host] != g.group[rows[open_]]
            clashing = elsewhere & ~g.tree.comparable(g.top[g.group[host]], g.node[rows[open_]])
            drawn[open_[clashing]] = host[clashing]
        return drawn


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
