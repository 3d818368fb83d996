"""What two providers tell together that are each safe alone: over different trees, and over two attributes.

*Trees*: each hides k values below every answer; who buys from both is left with what the answers have in common. The
second tree is made from the same table, clustered by another column, by each that will do; or it has the same
intervals, shifted by half. What is told depends much on that column: a table of medians and ranges is made of it.
*Pairs*: a policy over two attributes, of which one provider sells the first and the other the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pacas
from pacas.core.builders.intervals import intervals
from pacas.core.hierarchies.composition import left_in_common
from pacas.core.hierarchy import Hierarchy
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.experiments.datasets.dataset import TOTAL, Dataset, K
from pacas.experiments.datasets.load import load
from pacas.protocol.circle import CircleLine, CircleLines
from pacas.protocol.messages import Answer, Request
from pacas.provider.circle import Circle
from pacas.provider.quoter.declared import Sealing
from pacas.provider.quoter.public_view import Reserve

MOST_CONTEXTS = 200
"""Values of a column that another tree is clustered by."""
LEAST_VALUES = 2 * K
"""Of an attribute: with fewer, hardly a node but the root hides k."""
MANY_VALUES = 60
"""From so many on, clusters of six values on average, of twenty, and two; below, the builder's own choice: 8 and 3."""
ARX_WIDTHS = {"age": (5, 10, 20), "hours-per-week": (10, 20, 40)}
"""Of ARX's trees of Adult's numbers."""
PEOPLE = 2000
"""Of each data set, whose pairs are bought."""
SECRET = b"for an experiment, where nobody else is"


class ComposedTrees(NamedTuple):
    """Of the people whose value two trees have, how many they leave with too few."""

    dataset: str
    attribute: str
    second: str
    """What the second tree is."""
    by: str
    """The column it was clustered by, if any."""
    k: int
    values: int
    fewer: float
    """The share of people that are left with fewer than k values, their own included."""
    pinned: float
    """The share that are left with no other."""


class ShareRange(NamedTuple):
    """A share over several second trees: the median, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.median:.1%}"
        return f"{self.median:.1%} ({100 * self.least:.1f} to {self.most:.1%})"


class AttributeTogether(NamedTuple):
    """What one attribute's tree tells together with each of some others."""

    dataset: str
    attribute: str
    second: str
    trees: int
    values: int
    fewer: ShareRange
    pinned: ShareRange


class SoldPairs(NamedTuple):
    """People of whom two providers have sold one attribute each."""

    dataset: str
    attributes: str
    house: bool
    people: int
    sold: int
    broken: int
    """People of whom fewer than k pairs are left."""


def composed_trees(names: Sequence[str], data: Path | None, rows: int | None) -> Iterator[ComposedTrees]:
    """For every sold attribute with enough values, and ages, other trees beside its own; of Adult, ARX's trees, too."""
    for name in names:
        dataset = load(name, data, rows=rows)
        trees = {a: tree for a in dataset.sold if (tree := dataset.hierarchies.get(a)) is not None}
        if name == "adult" and data is not None:
            trees["occupation"] = read_hierarchy(data / "adult" / "hierarchies" / "adult_full_hierarchy_occupation.csv")
        for attribute, tree in trees.items():
            if tree.numeric:
                yield from _shifted(dataset, attribute)
            elif len(tree.ground_labels) >= LEAST_VALUES:
                yield from _clustered(dataset, attribute, tree)
        if "age" in dataset.truth.columns:
            yield from _shifted(dataset, "age")
        for attribute, widths in ARX_WIDTHS.items() if name == "adult" else ():
            yield from _shifted(dataset, attribute, widths)


def by_attribute(found: Iterable[ComposedTrees]) -> Iterator[AttributeTogether]:
    """The lines of each attribute and kind of second tree as one."""
    for (name, attribute, second), group in groupby(found, key=lambda one: one[:3]):
        lines = list(group)
        fewer, pinned = _share_range([one.fewer for one in lines]), _share_range([one.pinned for one in lines])
        yield AttributeTogether(name, attribute, second, len(lines), max(one.values for one in lines), fewer, pinned)


def _share_range(shares: Sequence[float]) -> ShareRange:
    return ShareRange(median(shares), min(shares), max(shares))


def _clustered(dataset: Dataset, attribute: str, tree: Hierarchy) -> Iterator[ComposedTrees]:
    table = dataset.truth.table
    values = len(set(table[attribute].to_pylist()) - {None, ""})
    clusters: dict[str, Any] = {"clusters": [values // 6, values // 20, 2]} if values >= MANY_VALUES else {}
    for by in dataset.truth.columns:
        if _is_context(dataset, attribute, by):
            other = pacas.build_hierarchy(table, attribute, "cluster", by=by, **clusters)
            yield _composed(dataset, attribute, "clustered", by, tree, other)


def _is_context(dataset: Dataset, attribute: str, column: str) -> bool:
    matched = dataset.match[attribute].provider_columns if attribute in dataset.match else ()
    if column == attribute or column in matched:
        return False
    return 1 < len(set(dataset.truth.table[column].to_pylist())) <= MOST_CONTEXTS


def _shifted(dataset: Dataset, attribute: str, widths: Sequence[int] | None = None) -> Iterator[ComposedTrees]:
    """Over all whole numbers from the least to the most that the table has: who makes intervals leaves no gaps."""
    given = [int(value) for value in dataset.truth.table[attribute].to_pylist() if value and value.isdigit()]
    values = [str(number) for number in range(min(given), max(given) + 1)] if given else []
    if len(values) >= LEAST_VALUES:
        width = max(1, round(len(values) / 8))
        widths = widths or [width, 3 * width]
        half = widths[0] // 2
        first, second = (intervals(values, widths=widths, origin=start) for start in (0, half))
        yield _composed(dataset, attribute, f"intervals of {widths[0]} shifted by {half}", "", first, second)


def _composed(
    dataset: Dataset, attribute: str, second: str, by: str, tree: Hierarchy, other: Hierarchy
) -> ComposedTrees:
    left = left_in_common(tree, other, K)
    people = [left[value] for value in dataset.truth.table[attribute].to_pylist() if value in left]
    shares = (sum(n < K for n in people) / len(people), people.count(1) / len(people))
    return ComposedTrees(dataset.name, attribute, second, by, K, len(left), *shares)


def sold_pairs(names: Sequence[str], data: Path | None, people: int = PEOPLE) -> Iterator[SoldPairs]:
    """Two providers sell everybody's two attributes, with a clearing house and without one."""
    for name in names:
        dataset = load(name, data, rows=people)
        if len(dataset.sold) < 2:
            continue
        for house in (None, _House()):
            yield _sold(dataset, dataset.sold[:2], house)


def _sold(dataset: Dataset, attributes: Sequence[str], house: _House | None) -> SoldPairs:
    table, trees = dataset.truth.table, {a: dataset.hierarchies[a] for a in attributes}
    rows = [row for row in range(table.num_rows) if all(table[a][row].as_py() in trees[a] for a in attributes)]
    relation: dict[str, list[Any]] = {"K": [f"person {number}" for number in range(len(rows))]}
    relation |= {a: [table[a][row].as_py() for row in rows] for a in attributes}
    members = [_member(name, relation, trees, house) for name in "AB"]
    answers: dict[str, dict[str, str]] = {}
    for person in relation["K"]:
        for member, attribute in zip(members, attributes, strict=True):
            told = member.pay(Request({"K": person}, attribute, 0), 10**15, f"{attribute} of {person}")
            if isinstance(told, Answer):
                answers.setdefault(person, {})[attribute] = told.value
    broken = sum(_possible(trees, told) < K for told in answers.values())
    return SoldPairs(
        dataset.name, ", ".join(attributes), house is not None, len(rows), sum(map(len, answers.values())), broken
    )


def _member(
    name: str, relation: dict[str, list[Any]], trees: dict[str, Hierarchy], house: _House | None
) -> pacas.Provider:
    policy = pacas.Policy(("K",), tuple(trees), dict.fromkeys(trees, 0), k=K)
    circle: dict[str, Any] = {}
    if house is not None:
        circle["circle"] = Circle(house, name, SECRET)
        circle["common_trees"] = {a: tree.digest for a, tree in trees.items()}
    return pacas.Provider(
        relation,
        match=dict.fromkeys(trees, "K = K"),
        policies=[policy],
        hierarchies=trees,
        total=TOTAL,
        sealing=Sealing(reserve=Reserve.LAST),
        **circle,
    )


def _possible(trees: dict[str, Hierarchy], told: dict[str, str]) -> int:
    """The pairs that answers leave; all that is sold is at the ground, which leaves one value."""
    left = 1
    for attribute, tree in trees.items():
        left *= 1 if attribute in told else len(tree.ground_labels)
    return left


class _House:
    """A clearing house in this process."""

    def __init__(self) -> None:
        self._kept: dict[str, CircleLines] = {}

    def read(self, key: str) -> CircleLines:
        return self._kept.get(key, CircleLines())

    def reserve(self, key: str, if_version: int, line: CircleLine) -> bool:
        found = self.read(key)
        if found.version == if_version and line not in found.lines:
            self._kept[key] = CircleLines(if_version + 1, (*found.lines, line))
        return found.version == if_version

    def close(self) -> None:
        pass
