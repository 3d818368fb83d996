"""What the builders' tests share: the tree property, and the Adult data."""

from __future__ import annotations

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pacas.core.builders import Contingency
from pacas.core.hierarchy import ROOT, Hierarchy

Table = dict[str, list[str]]


@pytest.fixture(scope="session")
def assert_tree() -> Callable[[Hierarchy, Sequence[str]], None]:
    """Every value is ground; levels nest; a label is one set of values; no label above ground is a ground label."""

    def check(hierarchy: Hierarchy, values: Sequence[str]) -> None:
        rows = list(hierarchy.rows())
        ground = {row[0] for row in rows}
        assert {hierarchy.label(hierarchy.code(v)) for v in values} == ground
        base: dict[str, set[frozenset[str]]] = defaultdict(set)
        for level in range(1, hierarchy.height + 1):
            above: dict[str, set[str]] = defaultdict(set)
            below: dict[str, set[str]] = defaultdict(set)
            for row in rows:
                below[row[level]].add(row[0])
                above[row[level - 1]].add(row[level])
            assert all(len(parents) == 1 for parents in above.values())
            for label, members in below.items():
                base[label].add(frozenset(members))
        assert all(len(sets) == 1 for label, sets in base.items() if label != ROOT)
        assert not ground & base.keys()
        assert {row[-1] for row in rows} == {ROOT}

    return check


@pytest.fixture(scope="session")
def adult(shared_data: Path) -> Table:
    path = shared_data / "adult" / "adult_full.csv.gz"
    if not path.exists():
        pytest.skip(f"no {path.name} in {path.parent}")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    return {name: list(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


@pytest.fixture(scope="session")
def contingency() -> Callable[..., Contingency]:
    """A column, or two, counted."""

    def count(values: Sequence[str], targets: Sequence[str] | None = None) -> Contingency:
        if targets is None:
            counter = Counter(values)
            return Contingency(list(counter), list(counter.values()))
        pairs = Counter(zip(values, targets, strict=True))
        return Contingency([v for v, _ in pairs], list(pairs.values()), [t for _, t in pairs])

    return count


@pytest.fixture(scope="session")
def upper_bounds() -> Callable[[Hierarchy, int], list[float]]:
    """The largest number of each bin of a level, ascending, without the last bin's."""

    def bounds(hierarchy: Hierarchy, level: int) -> list[float]:
        return sorted(float(label.strip("[]").split(",")[1]) for label in hierarchy.at_level(level))[:-1]

    return bounds
