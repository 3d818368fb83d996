"""A hierarchy as a tree in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from pacas.cli.options import printable
from pacas.core.hierarchy import Hierarchy
from pacas.core.words import counted

Weights = NDArray[np.int64]


def draw(
    hierarchy: Hierarchy,
    *,
    max_children: int = 12,
    depth: int | None = None,
    counts: Mapping[str, int] | None = None,
) -> RenderableType:
    """The tree from the root down, `depth` steps deep, and a legend of its levels.

    Beside each general value stands the number of ground values below it; with `counts`, the rows of each value in
    a column, beside each value the number of rows at or below it.
    """
    below = _sum_below(hierarchy, hierarchy.is_ground.astype(np.int64))
    rows = None if counts is None else _sum_below(hierarchy, _weights(hierarchy, counts))
    children = _children(hierarchy)

    def name(code: int) -> Text:
        label = hierarchy.label(code)
        text = Text("(null)" if label is None else printable(label), style="bold" if children[code].size else "")
        if children[code].size:
            text.append(f"  {counted(int(below[code]), 'value')}", style="cyan")
        if rows is not None:
            text.append(f"  {counted(int(rows[code]), 'row')}", style="dim")
        return text

    tree = Tree(name(hierarchy.root), guide_style="dim")
    todo = [(tree, hierarchy.root, 0)]
    while todo:
        branch, code, at = todo.pop()
        if at == depth:
            continue
        shown = children[code][:max_children].tolist()
        todo += [(branch.add(name(child)), child, at + 1) for child in shown]
        if hidden := children[code].size - len(shown):
            branch.add(Text(f"… {hidden:,} more", style="dim italic"))
    return Group(tree, Text(), _legend(hierarchy))


def _legend(hierarchy: Hierarchy) -> Text:
    """How many values each level has, from the root down to the ground."""
    lines = []
    for level in range(hierarchy.height, -1, -1):
        what = {hierarchy.height: " (root)", 0: " (ground)"}.get(level, "")
        lines.append(f"level {level}{what}: {counted(len(hierarchy.at_level(level)), 'value')}")
    return Text("\n".join(lines), style="dim")


def _children(hierarchy: Hierarchy) -> list[NDArray[np.int64]]:
    """Each code's children, in the order in which the hierarchy lists the ground values below them."""
    parent = hierarchy.parent.copy()
    parent[hierarchy.root] = -1
    first = np.full(len(hierarchy), len(hierarchy))
    ground = np.flatnonzero(hierarchy.is_ground)
    for ancestor in hierarchy.ancestors:
        np.minimum.at(first, ancestor[ground], ground)
    order = np.lexsort((first, parent))
    starts = np.searchsorted(parent[order], np.arange(len(hierarchy) + 1))
    return [order[starts[c] : starts[c + 1]] for c in range(len(hierarchy))]


def _weights(hierarchy: Hierarchy, counts: Mapping[str, int]) -> Weights:
    weights = np.zeros(len(hierarchy), dtype=np.int64)
    for value, count in counts.items():
        if value in hierarchy:
            weights[hierarchy.code(value)] += count
    return weights


def _sum_below(hierarchy: Hierarchy, weights: Weights) -> Weights:
    """Per code, the weights at and below it: a subtree is a stretch of the depth-first tour."""
    toured = np.zeros(len(hierarchy) + 1, dtype=np.int64)
    toured[1:][hierarchy.enter] = weights
    sums = np.cumsum(toured)
    total: Weights = sums[hierarchy.leave] - sums[hierarchy.enter]
    return total
