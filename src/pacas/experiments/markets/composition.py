"""What two providers tell together that are each safe alone: over different trees, and over two attributes.

*Trees*: each hides k values below every answer; who buys from both is left with what the answers have in common. The
second tree is made from the same table, clustered by another column, or has the same intervals, shifted by half.
*Pairs*: a policy over two attributes, of which one provider sells the first and the other the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pacas
from pacas.core.builders.intervals import intervals
from pacas.core.hierarchies.composition import compose
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError
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
PEOPLE = 2000
"""Of each data set, whose pairs are bought."""
SECRET = b"for an experiment, where nobody else is"


class ComposedTrees(NamedTuple):
    """Of an attribute's values, how many two trees leave with too few."""

    dataset: str
    attribute: str
    second: str
    """How the second tree was made."""
    k: int
    values: int
    fewer: float
    """The share that is left with fewer than k values, itself included."""
    pinned: float
    """The share that is left with no other."""


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
    """For every sold attribute with enough values, and ages, another tree beside its own."""
    for name in names:
        dataset = load(name, data, rows=rows)
        for attribute in dataset.sold:
            tree = dataset.hierarchies.get(attribute)
            if tree is not None and len(tree.ground_labels) >= LEAST_VALUES:
                yield from _beside(dataset, attribute, tree)
        if "age" in dataset.truth.columns:
            yield from _shifted(name, "age", dataset.truth.table["age"].to_pylist())


def _beside(dataset: Dataset, attribute: str, tree: Hierarchy) -> Iterator[ComposedTrees]:
    table = dataset.truth.table
    if tree.numeric:
        yield from _shifted(dataset.name, attribute, table[attribute].to_pylist())
        return
    by = next((column for column in dataset.truth.columns if _is_context(dataset, attribute, column)), None)
    if by is None:
        return
    values = len(set(table[attribute].to_pylist()) - {None, ""})
    clusters = sorted({max(2, values // 6), max(2, values // 20), 2}, reverse=True)
    try:
        other = pacas.build_hierarchy(table, attribute, "cluster", by=by, clusters=clusters)
    except HierarchyError:  # too few values differ
        return
    yield _composed(dataset.name, attribute, f"clustered by {by}", tree, other)


def _is_context(dataset: Dataset, attribute: str, column: str) -> bool:
    if column == attribute or column in dataset.sold or column in dataset.match[attribute].provider_columns:
        return False
    return 1 < len(set(dataset.truth.table[column].to_pylist())) <= MOST_CONTEXTS


def _shifted(name: str, attribute: str, given: Sequence[str | None]) -> Iterator[ComposedTrees]:
    values = sorted({value for value in given if value and value.replace(".", "", 1).isdigit()}, key=float)
    if len(values) >= LEAST_VALUES:
        ends = float(values[0]), float(values[-1])
        width = max(1, round((ends[1] - ends[0]) / 8))
        first, second = (intervals(values, widths=[width, 3 * width], origin=start) for start in (0, width // 2))
        yield _composed(name, attribute, "intervals shifted by half", first, second)


def _composed(name: str, attribute: str, second: str, tree: Hierarchy, other: Hierarchy) -> ComposedTrees:
    found = compose(tree, other, K)
    shares = found.fewer / found.values, found.pinned / found.values
    return ComposedTrees(name, attribute, second, K, found.values, *shares)


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
