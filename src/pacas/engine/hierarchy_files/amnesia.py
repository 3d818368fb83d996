"""Hierarchies saved by Amnesia, the anonymization tool of OpenAIRE.

The text form opens with a few lines about the hierarchy, up to the first blank line:

    distinct                    or: range
    name drugs
    type string                 or: int, decimal, double, date
    height 3                    the number of levels, the root's among them

Then each line lists the children of one node, the lowest level first, with a blank line between levels:

    NSAID has ibuprofen naproxen

    * has NSAID opioid

Words are split at blanks, so this form cannot hold a label with a blank in it. The JSON form can: it is one object
with `hierType`, `name`, `type`, `height`, and `level1`, `level2`, … from the root down, each an object that
maps a node to the list of its children.

In a `range` hierarchy a node is a pair of bounds: `0,9` in text and `0-9` in JSON; for dates d/m/yyyy, m/yyyy or yyyy.
Here every range is a label in the JSON spelling. A column does not hold ranges but values, so the whole numbers
in a finest `int` range become its ground values; a bound that two ranges share belongs to the upper one. The values
in a decimal or date range cannot be listed: there the finest ranges are the ground values, and a column of plain
numbers or dates wants the builders `intervals` and `date` instead.

Amnesia gives empty cells a leaf of their own (NaN, null). It is left out: a null needs no hierarchy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pacas.core.hierarchies.lint import HierarchyRow
from pacas.core.hierarchy import canonical_number
from pacas.engine.hierarchy_files.json_tree import label
from pacas.engine.hierarchy_files.raw_hierarchy import RawHierarchy, at, not_a_tree, pad
from pacas.errors import FileError, did_you_mean

KINDS = ("distinct", "range")
NUMBERS = ("int", "decimal", "double")
TYPES = ("string", *NUMBERS, "date")
KEYS = ("hierType", "name", "type", "height")
HEAD = re.compile(rf"{'|'.join(KINDS)}|type\s+({'|'.join(TYPES)})|height\s+\d+", re.IGNORECASE)
NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
NUMBER_RANGE = re.compile(rf"({NUMBER})[,-]({NUMBER})", re.ASCII)
DATE = r"(?:\d{1,2}/){0,2}\d{4}"
DATE_RANGE = re.compile(rf"({DATE})(?:[,-]({DATE}))?", re.ASCII)

MOST = 1_000_000
"""The most ground values that the ranges of a file may stand for."""
NULLS = ("NaN", "NaN,NaN", "null", "null,null", "(null)")

Spell = Callable[[str, str], str]
"""From a node as the file writes it, and where it stands, to its label."""


def looks_like_text(text: str) -> bool:
    """Do the lines up to the first blank one say what an Amnesia file says there?"""
    head = [line.strip() for line in re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0].splitlines()]
    return sum(HEAD.fullmatch(line) is not None for line in head) >= 2


def parse_text(text: str, path: Path) -> RawHierarchy:
    lines = [(number, line.strip().split(" ")) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, [word for word in words if word]) for number, words in lines]
    start = next(i for i, (_, words) in enumerate(lines) if words)
    end = next((i for i, (_, words) in enumerate(lines) if i > start and not words), len(lines))
    said = {words[0].casefold(): words[1:] for _, words in lines[start:end]}
    kind = next((kind for kind in KINDS if kind in said), "")
    spell = _spelling(kind, " ".join(said.get("type", [])), path)
    body = lines[end:]
    edges = [edge for number, words in body if words for edge in _edges(words, spell, path, number)]
    return _raw(edges, kind, said["type"][0].casefold(), path)


def parse_json(document: dict[str, Any], path: Path) -> RawHierarchy:
    kind, kind_of_value = (str(document.get(key, "")).casefold() for key in ("hierType", "type"))
    spell = _spelling(kind, kind_of_value, path)
    count = next(n for n in range(1, len(document) + 2) if f"level{n}" not in document)
    levels = [f"level{n}" for n in range(1, count)]
    for key in document:
        if key not in KEYS and key not in levels:
            raise FileError(f"{path}: unknown key {key!r}; {did_you_mean(key, [*KEYS, *levels, f'level{count}'])}")
    edges = [edge for level in levels for edge in _json_edges(document[level], spell, f"{path}: {level}")]
    return _raw(edges, kind, kind_of_value, path)


def _spelling(kind: str, kind_of_value: str, path: Path) -> Spell:
    if kind not in KINDS:
        said = f"is of kind {kind!r}" if kind else "does not say its kind"
        raise FileError(f"{path}: an Amnesia hierarchy that {said}; only 'distinct' and 'range' can be read")
    if kind_of_value.casefold() not in TYPES:
        raise FileError(f"{path}: an Amnesia hierarchy of type {kind_of_value!r}; the types are {', '.join(TYPES)}")
    if kind == "distinct":
        return lambda word, where: word
    if kind_of_value.casefold() == "string":
        raise FileError(f"{path}: an Amnesia range hierarchy of strings; only numbers and dates have ranges")
    return date_range if kind_of_value.casefold() == "date" else number_range


def _edges(words: list[str], spell: Spell, path: Path, line: int) -> Iterator[Edge]:
    where = at(path, line)
    if "has" not in words[1:]:
        raise FileError(f"{where}: expected a line like 'parent has child child …'")
    if words[1] != "has":
        raise FileError(f"{where}: a label with a blank in it, which Amnesia's text form cannot hold; save it as JSON")
    parent = spell(words[0], where)
    for word in words[2:]:
        if word not in NULLS:
            yield Edge(spell(word, where), parent, line)


def _json_edges(level: Any, spell: Spell, where: str) -> Iterator[Edge]:
    if not isinstance(level, dict):
        raise FileError(f"{where} must map each node to the list of its children")
    for name, children in level.items():
        here = f"{where}, node {name!r}"
        if not isinstance(children, list):
            raise FileError(f"{here}: its children must be a list")
        parent = spell(label(name, f"{where}: a node"), here)
        for child in children:
            word = label(child, f"{here}: a child")
            if word not in NULLS:
                yield Edge(spell(word, here), parent)


def _raw(edges: list[Edge], kind: str, kind_of_value: str, path: Path) -> RawHierarchy:
    if not edges:
        raise FileError(f"{path}: an Amnesia hierarchy without nodes")
    rows = pad(paths(edges, path))
    if kind == "range" and kind_of_value == "int":
        rows = tuple(expand(rows, path))
    return RawHierarchy(rows, numeric=kind_of_value in NUMBERS)


# ---- from child-parent pairs to leaf-to-root paths -----------------------------------------------------------------


class Edge(NamedTuple):
    """A child and its parent, and the line that says so."""

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


def number_range(word: str, where: str) -> str:
    """A range of numbers in its one spelling.

    >>> number_range("-5.0,-1.5", ""), number_range("0-9", "")
    ('-5--1.5', '0-9')
    """
    bounds = NUMBER_RANGE.fullmatch(word)
    if bounds is None:
        raise FileError(f"{where}: {word!r} is not a range of numbers such as '0,9'")
    low, high = map(canonical_number, bounds.groups())
    if float(low) > float(high):
        raise FileError(f"{where}: the range {word!r} ends before it begins")
    return f"{low}-{high}"


def date_range(word: str, where: str) -> str:
    bounds = DATE_RANGE.fullmatch(word)
    if bounds is None:
        raise FileError(f"{where}: {word!r} is not a range of dates such as '1/1990,6/1990'")
    low, high = bounds.groups()
    return low if high is None else f"{low}-{high}"


def expand(rows: Sequence[HierarchyRow], path: Path) -> Iterator[HierarchyRow]:
    """A row for each whole number in the finest ranges, which become level 1."""
    first = {row.labels[0]: row for row in rows}
    ranges = sorted((*_whole(row, path), row.labels[0]) for row in first.values())
    total = sum(high - low + 1 for low, high, _ in ranges)
    if total > MOST:
        raise FileError(
            f"{path}: its ranges hold {total:,} whole numbers, more than {MOST:,}; build it with 'intervals'"
        )
    ends = {name: high for _, high, name in ranges}
    for (low, high, name), (following, _, other) in pairwise(ranges):
        if following < high or following == low:
            raise not_a_tree(path, first[other].line, f"the ranges {name!r} and {other!r} overlap")
        ends[name] = high - (following == high)
    for row in rows:
        low, _ = _whole(row, path)
        for number in range(low, ends[row.labels[0]] + 1):
            yield HierarchyRow((str(number), *row.labels), row.line)


def _whole(row: HierarchyRow, path: Path) -> tuple[int, int]:
    bounds = NUMBER_RANGE.fullmatch(row.labels[0])
    low, high = (float(bound) for bound in bounds.groups()) if bounds else (0.5, 0.5)
    if low != int(low) or high != int(high):
        raise not_a_tree(path, row.line, f"{row.labels[0]!r} has bounds that are not whole, in a hierarchy of type int")
    return int(low), int(high)
