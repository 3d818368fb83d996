"""Random hierarchies and relations, small and nasty."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, count
from typing import Any

from hypothesis import strategies as st

from oracles.cleaning import Dependency
from oracles.tree import Tree, Value

UNKNOWN = ["u1", "u2"]
"""Values that no hierarchy here knows."""


@st.composite
def tree_rows(draw: st.DrawFn, max_height: int = 4, branching: int = 3) -> list[list[str]]:
    """The rows of a tree.

    One child of a node may carry the node's own label: so labels stand on several levels, leaves are padded, and
    a value may stand at ground level and have others below it.
    """
    number = count()

    def below(label: str, level: int) -> list[list[str]]:
        """The parts below `label` at `level` of all rows through it."""
        if level == 0:
            return [[]]
        rows = []
        repeats = draw(st.booleans())
        for child in range(draw(st.integers(1, branching))):
            name = label if repeats and child == 0 else f"v{next(number)}"
            rows += [[*rest, name] for rest in below(name, level - 1)]
        return rows

    height = draw(st.integers(1, max_height))
    rows = [[*row, "*"] for row in below("*", height)]
    return rows if any(row[0] != "*" for row in rows) else [*rows, [f"v{next(number)}"] * height + ["*"]]


def numbered_rows(max_height: int = 4) -> st.SearchStrategy[list[list[str]]]:
    """The same, with numbers for names below the root."""
    return tree_rows(max_height).map(lambda rows: [[label.removeprefix("v") for label in row] for row in rows])


def criteria() -> st.SearchStrategy[tuple[str, dict[str, str]]]:
    """A privacy criterion's name, and its parameters as they are written."""
    written = {
        "distinct": {"k": ["1", "2", "3", "4"]},
        "entropy": {"l": ["1", "1.5", "2", "2.5", "3"]},
        "recursive": {"c": ["0.5", "1", "2", "3.5"], "l": ["1", "2", "3"]},
        "closeness": {"t": ["0", "0.1", "0.25", "0.3", "0.5", "1"]},
    }
    return st.sampled_from(sorted(written)).flatmap(
        lambda name: st.tuples(
            st.just(name), st.fixed_dictionaries({key: st.sampled_from(v) for key, v in written[name].items()})
        )
    )


@st.composite
def uniform_rows(draw: st.DrawFn, max_height: int = 4) -> list[list[str]]:
    """The rows of a tree in which each label stands on one level only."""
    number = count()

    def below(level: int) -> list[list[str]]:
        if level == 0:
            return [[]]
        rows = []
        for _ in range(draw(st.integers(1, 3))):
            name = f"v{next(number)}"
            rows += [[*rest, name] for rest in below(level - 1)]
        return rows

    return [[*row, "*"] for row in below(draw(st.integers(1, max_height)))]


@st.composite
def numeric_rows(draw: st.DrawFn) -> list[list[str]]:
    """Numbers in intervals of two and of four: 0 … 7."""
    numbers = sorted(draw(st.sets(st.integers(0, 7), min_size=1, max_size=8)))
    return [[str(n), f"[{n // 2 * 2},{n // 2 * 2 + 1}]", f"[{n // 4 * 4},{n // 4 * 4 + 3}]", "*"] for n in numbers]


SPELLINGS = ["{}", "{}.0", "0{}", "{}.00", "{}e0"]


def values_of(tree: Tree) -> st.SearchStrategy[Value]:
    """Ground and general values, unknown ones and null; numbers in several spellings."""
    known = st.sampled_from(sorted(tree.known))
    if tree.numeric:
        numbers = st.builds(lambda n, spelling: spelling.format(n), st.integers(0, 8), st.sampled_from(SPELLINGS))
        known = numbers | known
    ground = st.sampled_from(sorted(v for v in tree.known if tree.is_ground(v)) or ["u1"])
    return ground | known | st.sampled_from([*UNKNOWN, None])


def trees() -> st.SearchStrategy[Tree]:
    return st.builds(Tree, tree_rows(max_height=3)) | st.builds(lambda rows: Tree(rows, numeric=True), numeric_rows())


@st.composite
def relations(
    draw: st.DrawFn, attributes: Sequence[str] = "ABCD", max_rows: int = 14, hierarchies: Sequence[str] | None = None
) -> tuple[list[dict[str, Value]], dict[str, Tree]]:
    """Rows, and trees for some of their attributes; the others hold `*` now and then. Groups are skewed."""
    having = draw(st.sets(st.sampled_from(list(hierarchies or attributes))))
    found = {a: draw(trees()) for a in attributes if a in having}
    plain = st.sampled_from(["a", "b", "c", "*", None])
    columns: dict[str, Any] = {}
    size = draw(st.integers(1, max_rows))
    for a in attributes:
        values = values_of(found[a]) if a in found else plain
        often = draw(values)  # a value that half of the rows have
        columns[a] = draw(st.lists(values | st.just(often), min_size=size, max_size=size))
    rows = [dict(zip(attributes, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows, found


def dependencies(attributes: Sequence[str] = "ABCD", most: int = 4) -> st.SearchStrategy[list[Dependency]]:
    """Several FDs, so that right sides are shared and one's right side stands in another's left."""
    all_fds = [
        Dependency(lhs, rhs)
        for rhs in attributes
        for size in (1, 2)
        for lhs in combinations([a for a in attributes if a != rhs], size)
    ]
    return st.lists(st.sampled_from(all_fds), min_size=1, max_size=most, unique=True)
