"""How many X-groups a dependency leaves short of values, once its left side is bought as far as it is sold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, prod

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Codes
from pacas.engine.grouping import Ints, Keys, combine, spread
from pacas.provider.lint.dependencies import TellingDependency
from pacas.provider.lint.free_quotes import FreeQuotes
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms

Levels = Mapping[str, Ints]
"""What is known of each row: attributes, and per row the level at which its value is known."""
Tuples = Mapping[str, Codes]
"""What rows can hold together, as nodes: one entry per tuple in each attribute."""

MOST_LEVELS = 127
"""A hierarchy is never higher."""


def known_levels(found: TellingDependency, quotes: FreeQuotes, terms: Terms) -> Levels:
    """What a buyer of all that is for sale knows of each row through a dependency."""
    fd, own = found.fd, quotes.own
    if any(a in terms.match for a in fd.lhs):
        sold = {a: np.maximum(quotes.floors(a), found.level) for a in fd.lhs if a in terms.match}
        return {a: sold.get(a, np.zeros(own.rows, dtype=np.int64)) for a in fd.lhs}
    floors = quotes.floors(fd.rhs)
    if found.is_declared:
        return {fd.rhs: floors}
    of_row = own.groups(fd.lhs)
    least = np.full(int(of_row.max(initial=-1)) + 2, np.iinfo(np.int64).max)
    np.minimum.at(least, of_row, floors)
    return {fd.rhs: np.where(of_row < 0, floors, least[of_row])}


def protected_groups(own: OwnRows, policy: Policy) -> Ints:
    """Per row its X-group (−1: none); where the policy protects each row, each is a group of its own."""
    return own.groups(policy.x) if policy.scope == "group" else np.arange(own.rows)


def broken_groups(found: TellingDependency, own: OwnRows, known: Levels, policy: Policy, terms: Terms) -> int:
    """X-groups of a policy whose rows, as far as they are known, can have fewer than k values of Y at L.

    A row can have what the dependency allows: the tuples of its dictionary or, where it is not declared, the value that
    most rows with the same left side have.
    """
    needed = _needed(found, own, policy)
    possible = _possible(found, own, terms)
    goal = own.hierarchy(found.fd.rhs).ancestors[found.right_level, possible[found.fd.rhs]].astype(np.int64)
    group = protected_groups(own, policy)
    groups, nodes = int(group.max(initial=-1)) + 1, len(own.hierarchy(found.fd.rhs))
    is_safe = np.zeros(groups, dtype=np.bool_)
    shown = [np.empty(0, dtype=np.int64)]
    for levels, rows in _by_levels(known):
        rows = rows[group[rows] >= 0]
        answer, first, count, values = _values_of(own, levels, rows, possible, goal)
        enough = count >= needed
        is_safe[group[rows[enough[answer]]]] = True
        pair = np.unique(group[rows[~enough[answer]]] * len(count) + answer[~enough[answer]])
        of_group, of_answer = pair // len(count), pair % len(count)
        listed = values[spread(first[of_answer], count[of_answer])]
        shown.append(np.repeat(of_group, count[of_answer]) * nodes + listed)
    counted = np.bincount(np.unique(np.concatenate(shown)) // nodes, minlength=groups)
    return int((~is_safe & (counted < needed)).sum())


def _by_levels(known: Levels) -> Iterator[tuple[dict[str, int], Ints]]:
    """The rows of which the same levels are known, and these levels."""
    key = np.zeros(len(next(iter(known.values()))), dtype=np.int64)
    for levels in known.values():
        key = key * (MOST_LEVELS + 1) + levels
    for number, first in zip(*np.unique(key, return_index=True), strict=True):
        yield {a: int(levels[first]) for a, levels in known.items()}, np.flatnonzero(key == number)


def _needed(found: TellingDependency, own: OwnRows, policy: Policy) -> int:
    """How many values of the right side are enough, where the policy protects others with it that stay unknown.

    Of a criterion that asks for more than a number of values, the number that it implies; one is never enough.
    """
    fewest = policy.k if policy.criterion is None else max(policy.k, 2)
    others = [a for a in policy.y if a != found.fd.rhs and a not in found.fd.lhs]
    return ceil(fewest / prod(len(own.hierarchy(a).at_level(policy.y_levels[a])) for a in others))


def _possible(found: TellingDependency, own: OwnRows, terms: Terms) -> Tuples:
    """The tuples that rows can hold, by what is known of the dependency."""
    fd = found.fd
    if all(a not in terms.match for a in fd.lhs):
        domain = own.hierarchy(fd.rhs)
        return {fd.rhs: np.flatnonzero(domain.is_ground).astype(np.int32)}
    lines = next((one.dictionary for one in terms.dependencies if found.is_declared and one.fd == fd), None)
    if lines is not None:
        told = [line for line in lines if all(line[a] in own.hierarchy(a) for a in fd.attributes)]
        return {a: own.hierarchy(a).encode(line[a] for line in told) for a in fd.attributes}
    rows = _most_frequent(found, own)
    return {a: own.nodes(a)[rows] for a in fd.attributes}


def _most_frequent(found: TellingDependency, own: OwnRows) -> Ints:
    """For each left side a row that has its most frequent right side."""
    left = [Keys(own.answers(a, found.level), len(own.hierarchy(a)), False) for a in found.fd.lhs]
    right, space = own.answers(found.fd.rhs, found.right_level), len(own.hierarchy(found.fd.rhs))
    key = combine(left).key.astype(np.int64) * space + right
    pair, row, count = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((-count, pair // space))
    _, first = np.unique((pair // space)[order], return_index=True)
    return np.asarray(row[order[first]])


def _values_of(
    own: OwnRows, levels: Mapping[str, int], rows: Ints, possible: Tuples, goal: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Per row the number of its answer, and per answer where its values begin, and how many there are, in a list."""
    asked, tuples = np.zeros(len(rows), dtype=np.int64), np.zeros(len(goal), dtype=np.int64)
    for attribute, level in levels.items():
        tree = own.hierarchy(attribute)
        asked = asked * len(tree) + tree.ancestors[level, own.nodes(attribute)[rows]]
        tuples = tuples * len(tree) + tree.ancestors[level, possible[attribute]]
    answers, number = np.unique(tuples, return_inverse=True)
    space = int(goal.max(initial=0)) + 1
    pair = np.unique(number * space + goal)
    _, first, count = np.unique(pair // space, return_index=True, return_counts=True)
    return np.searchsorted(answers, asked), first, count, pair % space
