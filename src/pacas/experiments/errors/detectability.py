"""Which errors show: an error is detectable if undoing it, and only it, lowers its dependency's number of violations.

Let D be the dirty relation with all its errors, and D′ the same without error e of X → A. Then e is detectable iff
violations(D, X → A) > violations(D′, X → A); so at least one violating pair with e's tuple in it is gone in D′. All
pairs that differ between D and D′ hold e's tuple, whence two counts decide: with how many tuples of its group it
clashes as it is, and with how many of the group that it would be in if e were undone. Errors that must not interact
stand `apart`: their tuples share no group with the tuple of another error. Of a cell, whoever spoilt it, `seen` says
whether its tuple is in any violation of a dependency that names its attribute.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.core.distance import Floats
from pacas.core.hierarchy import Codes, Hierarchy
from pacas.core.histogram import Ints
from pacas.experiments.errors.dirty_relation import ErrorKind, Repairability
from pacas.experiments.errors.error_columns import NO_FD, ErrorColumns


def detectable(columns: ErrorColumns, fds: Sequence[FunctionalDependency]) -> NDArray[np.bool_]:
    """Per error: is it detectable by its dependency? Random errors and overwritten groups count as if they were."""
    shows = np.ones(len(columns.errors), dtype=np.bool_)
    for number, fd in enumerate(fds):
        of_fd = np.flatnonzero((columns.errors.fd == number) & (columns.errors.kind != ErrorKind.OVERWRITTEN))
        if len(of_fd):
            now, undone = _clashes(columns, fd, of_fd)
            shows[of_fd] = now > undone
    return shows


def _clashes(columns: ErrorColumns, fd: FunctionalDependency, errors: Ints) -> tuple[Ints, Ints]:
    """Per error: with how many tuples of D its own violates the dependency, as it is and with the error undone."""
    group = columns.groups(fd.lhs).key
    tree, node = columns.nodes(fd.rhs)
    there = Clashes(columns.dirty(group), columns.dirty(node), tree)
    old, new = columns.errors.row[errors], columns.rows + errors
    now = there.count(group[new], node[new])
    undone = there.count(group[old], node[old])
    itself = (group[old] == group[new]) & (group[old] >= 0) & ~tree.comparable(node[old], node[new])
    return now, undone - itself


class Clashes:
    """How many rows of a group have a value that is incomparable with a given one.

    Of a group with the values a, b, b and their parent p, two clash with a, one with b, none with p.

    >>> tree = Hierarchy.from_rows([["a", "p", "*"], ["b", "p", "*"]])
    >>> clashes = Clashes(np.zeros(4, dtype=np.int64), tree.encode(["a", "b", "b", "p"]), tree)
    >>> clashes.count(np.zeros(3, dtype=np.int64), tree.encode(["a", "b", "p"])).tolist()
    [2, 1, 0]
    """

    def __init__(self, group: Ints, node: Codes, tree: Hierarchy) -> None:
        grouped = np.flatnonzero(group >= 0)
        self._tree = tree
        self._sizes = np.bincount(group[grouped], minlength=1)
        self._keys = np.sort(self._key(group[grouped], tree.enter[node[grouped]]))

    def count(self, group: Ints, node: Codes) -> Ints:
        """Per pair of a group, or −1 for none, and a value."""
        enter, leave = self._tree.enter, self._tree.leave
        sizes = self._sizes[np.minimum(group, len(self._sizes) - 1)]
        related = self._between(group, enter[node], leave[node])
        above = node.copy()
        for _ in range(self._tree.height):
            climbing = above != self._tree.root
            above = np.where(climbing, self._tree.parent[above], above)
            related = related + climbing * self._between(group, enter[above], enter[above] + 1)
        known = (group >= 0) & (group < len(self._sizes))
        return np.where(known, sizes - related, 0)

    def _between(self, group: Ints, first: Codes, end: Codes) -> Ints:
        return np.searchsorted(self._keys, self._key(group, end)) - np.searchsorted(self._keys, self._key(group, first))

    def _key(self, group: Ints, enter: Codes) -> Ints:
        """Group by group, values in depth-first order: what lies below a value is one run."""
        return group.astype(np.int64) * len(self._tree) + enter


def seen(columns: ErrorColumns, fds: Sequence[FunctionalDependency]) -> NDArray[np.bool_]:
    """Per error: is its tuple in a violation of a dependency that names its attribute, on either side?"""
    found = np.zeros(len(columns.errors), dtype=np.bool_)
    for fd in fds:
        tree, node = columns.nodes(fd.rhs)
        group = columns.groups(fd.lhs).key
        here = np.flatnonzero(np.isin(columns.errors.attribute, list(fd.attributes)))
        clashes = Clashes(columns.dirty(group), columns.dirty(node), tree)
        found[here] |= clashes.count(group[columns.rows + here], node[columns.rows + here]) > 0
    return found


def repairabilities(columns: ErrorColumns, fds: Sequence[FunctionalDependency]) -> list[Repairability | None]:
    """Per error: how much of the data still says what the right value is; None for a random error."""
    found: list[Repairability | None] = [None] * len(columns.errors)
    for number, fd in enumerate(fds):
        for attribute in fd.attributes:
            here = np.flatnonzero((columns.errors.fd == number) & (columns.errors.attribute == attribute))
            if len(here):
                before, after = _shares(columns, fd, attribute, here)
                for i, *shares in zip(here.tolist(), before.tolist(), after.tolist(), strict=True):
                    found[i] = Repairability(*shares)
    return found


def _shares(columns: ErrorColumns, fd: FunctionalDependency, attribute: str, errors: Ints) -> tuple[Floats, Floats]:
    others = columns.codes([a for a in fd.attributes if a != attribute]).key
    same = columns.codes(fd.attributes).key
    rows = columns.errors.row[errors]
    clean = _share(others[: columns.rows], same[: columns.rows], others[rows], same[rows])
    return clean, _share(columns.dirty(others), columns.dirty(same), others[rows], same[rows])


def _share(others: Ints, same: Ints, contexts: Ints, wholes: Ints) -> Floats:
    """Of the rows in each of the contexts, the share that is wholly as given; 0 where none is there any more."""
    inside = np.bincount(others, minlength=int(contexts.max()) + 1)[contexts]
    return np.asarray(np.bincount(same, minlength=int(wholes.max()) + 1)[wholes] / np.maximum(inside, 1))


def apart(columns: ErrorColumns, fds: Sequence[FunctionalDependency]) -> NDArray[np.bool_]:
    """Per error: is it random, or the first with its tuple in each of its groups, clean and dirty?"""
    number = np.arange(len(columns.errors))
    stands = np.ones(len(number), dtype=np.bool_)
    for fd in fds:
        group, space, _ = columns.groups(fd.lhs)
        first = np.full(space, len(number))
        sides = (group[columns.errors.row], group[columns.rows :])
        for side in sides:
            np.minimum.at(first, side[side >= 0], number[side >= 0])
        for side in sides:
            stands &= (side < 0) | (first[side] == number)
    return np.asarray(stands | (columns.errors.fd == NO_FD))
