"""From child-parent pairs to leaf-to-root paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pacas.core.lint import HierarchyRow

from .raw_hierarchy import not_a_tree


class Edge(NamedTuple):
    child: str
    parent: str
    line: int | None = None


def paths(edges: Sequence[Edge], path: Path) -> Iterator[HierarchyRow]:
    """A path from each leaf, and one more through each second parent, so that the linter sees every pair."""
    pairs = [edge for edge in edges if edge.child != edge.parent]
    first: dict[str, Edge] = {}
    below: dict[str, str] = {}
    for edge in pairs:
        first.setdefault(edge.child, edge)
        below.setdefault(edge.parent, edge.child)
    _check_no_circle(first, path)
    for edge in pairs:
        if first[edge.child].parent != edge.parent:
            yield HierarchyRow((*reversed(_down(edge.child, below)), *_up(edge.parent, first)), edge.line)
        elif edge.child not in below:
            yield HierarchyRow((edge.child, *_up(edge.parent, first)), edge.line)


def _up(label: str, first: dict[str, Edge]) -> Iterator[str]:
    yield label
    while label in first:
        label = first[label].parent
        yield label


def _down(label: str, below: dict[str, str]) -> list[str]:
    chain = [label]
    while (label := below.get(label, "")) and label not in chain:
        chain.append(label)
    return chain


def _check_no_circle(first: dict[str, Edge], path: Path) -> None:
    grounded: set[str] = set()
    for start in first:
        walk: dict[str, None] = {}
        label = start
        while label in first and label not in grounded:
            if label in walk:
                raise not_a_tree(path, first[label].line, f"{label!r} is its own ancestor")
            walk[label] = None
            label = first[label].parent
        grounded.update(walk)
