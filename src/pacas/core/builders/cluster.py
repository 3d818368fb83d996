"""Categories that go with the same values of another attribute, clustered together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.errors import HierarchyError

CLUSTERS = (8, 3)
MOST_VALUES = 3_000
MOST_CONTEXTS = 1_000
"""Every pair of profiles is compared, at a cost of values² · contexts: seconds at these limits."""

Profiles = NDArray[np.float64]


def cluster(
    values: Sequence[str], contexts: Sequence[str], counts: Sequence[int], *, clusters: Sequence[int] | None = None
) -> Hierarchy:
    """One level per number of clusters, then the root; unless given, 8 and 3 where there are more values.

    A category's profile is the distribution of the context attribute among its rows. The profiles are merged by
    average linkage of their Euclidean distances; a level is the state of the merging with so many clusters left, so
    the levels nest. A cluster is named after its most frequent member.

    >>> rows = zip(*[("nurse", "F", 8), ("nurse", "M", 2), ("midwife", "F", 9), ("smith", "M", 7)])
    >>> list(cluster(*rows, clusters=[2]).rows())[0]
    ('midwife', '{nurse +1 more}', '*')
    """
    names = sorted(set(values))
    levels = _levels(clusters, len(names))
    _check_values(names, len(set(contexts)))
    table = _table(values, contexts, counts, names)
    merges = _merges(table / table.sum(axis=1, keepdims=True)) if levels else []
    frequency = table.sum(axis=1).tolist()
    taken: dict[str, frozenset[int]] = dict.fromkeys(names, frozenset())
    columns = [_labels(_members(merges, len(names), many), names, frequency, taken) for many in levels]
    return Hierarchy.from_rows([(name, *(column[i] for column in columns), ROOT) for i, name in enumerate(names)])


def _levels(clusters: Sequence[int] | None, categories: int) -> list[int]:
    if clusters is None:
        return [many for many in CLUSTERS if many < categories]
    if not clusters or min(clusters) < 2 or any(fewer >= more for more, fewer in pairwise(clusters)):
        raise HierarchyError("clusters must name numbers of clusters, 2 or more, decreasing, e.g. clusters = [8, 3]")
    if clusters[0] >= categories:
        raise HierarchyError(f"clusters = {clusters[0]} merges nothing: there are {categories:,} values")
    return list(clusters)


def _check_values(names: Sequence[str], contexts: int) -> None:
    if ROOT in names:
        raise HierarchyError(f"one of the values is {ROOT!r}, the label of the root")
    for many, most, what in (len(names), MOST_VALUES, "values"), (contexts, MOST_CONTEXTS, "values to cluster by"):
        if many > most:
            raise HierarchyError(f"cluster compares every pair: {many:,} {what} are too many, at most {most:,} will do")


def _table(values: Sequence[str], contexts: Sequence[str], counts: Sequence[int], names: Sequence[str]) -> Profiles:
    row = {name: i for i, name in enumerate(names)}
    column = {context: j for j, context in enumerate(sorted(set(contexts)))}
    table = np.zeros((len(row), len(column)))
    for value, context, count in zip(values, contexts, counts, strict=True):
        table[row[value], column[context]] += count
    return table


def _merges(profiles: Profiles) -> list[tuple[int, int]]:
    """The two clusters that each step merges; step i makes cluster n + i."""
    from scipy.cluster.hierarchy import linkage  # here: slow to import, rarely needed

    return [(int(a), int(b)) for a, b, _, _ in linkage(profiles, method="average", metric="euclidean")]


def _members(merges: Sequence[tuple[int, int]], categories: int, many: int) -> list[list[int]]:
    """The categories of each cluster when `many` clusters are left."""
    clusters = {i: [i] for i in range(categories)}
    for step, (a, b) in enumerate(merges[: categories - many]):
        clusters[categories + step] = clusters.pop(a) + clusters.pop(b)
    return list(clusters.values())


def _labels(
    clusters: Sequence[list[int]], names: Sequence[str], frequency: Sequence[float], taken: dict[str, frozenset[int]]
) -> dict[int, str]:
    """Each category's label: its cluster's most frequent member, and how many more there are.

    A cluster that stands on several levels keeps its label. Where a category looks like a label, braces are added
    until no two nodes share one.
    """
    labels = {}
    for members in clusters:
        first = min(members, key=lambda i: (-frequency[i], names[i]))
        more = f" +{len(members) - 1} more" if len(members) > 1 else ""
        label = f"{{{names[first]}{more}}}"
        while taken.setdefault(label, frozenset(members)) != frozenset(members):
            label = f"{{{label}}}"
        labels.update(dict.fromkeys(members, label))
    return labels
