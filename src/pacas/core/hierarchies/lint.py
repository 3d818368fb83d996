"""Everything that is wrong with a hierarchy, and what is merely odd about it.

`Hierarchy.from_rows` stops at the first problem; the linter looks at the rows as they were written and reports
them all. A *problem* breaks a definition (Paper: §2.2: one tree, one ancestor per level) or leaves data out; a
*note* is legal, but may not be what was meant.

Messages name labels of the hierarchy, which both parties know. They name values of the data only where the
caller says so: a provider's values are not for quoting.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pacas.core.hierarchy import canonical_number

Severity = Literal["problem", "note"]
Kind = Literal[
    "no-rows",
    "one-level",
    "uneven-rows",
    "empty-label",
    "several-roots",
    "root-below",
    "several-parents",
    "several-ancestors",
    "uncovered-values",
    "general-values",
    "few-values",
    "several-levels",
    "repeated-level",
]

SHOWN = 5
"""How many examples a finding carries."""


@dataclass(frozen=True, slots=True)
class HierarchyRow:
    """One row of a hierarchy as it was written: its labels from ground to root, and the line it stands on."""

    labels: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the linter found: what, on which level, how often, and on which lines."""

    kind: Kind
    message: str
    severity: Severity = "problem"
    level: int | None = None
    count: int = 1
    lines: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()


def lint(
    rows: Iterable[HierarchyRow],
    values: Iterable[str | None] | None = None,
    k: int | None = None,
    *,
    numeric: bool = False,
    quote_values: bool = False,
) -> list[Finding]:
    """All findings about the rows, and about a column's `values` and a policy's `k` where they are given.

    >>> rows = [HierarchyRow(("ibuprofen", "NSAID", "*")), HierarchyRow(("dolex", "analgesic", "*"))]
    >>> lint(rows, values=["ibuprofen", "dolex"])
    []
    >>> [finding.message for finding in lint(rows, values=["naproxen", "dolex", "naproxen"])]
    ['1 value of the data (in 2 cells) is not in the hierarchy']
    """
    kept = [HierarchyRow(tuple(map(canonical_number, r.labels)), r.line) if numeric else r for r in rows]
    if not kept:
        return [Finding("no-rows", "a hierarchy without values; give it at least one row")]
    even = _of_the_usual_width(kept)
    height = len(even[0].labels) - 1
    if not height:
        return [Finding("one-level", "only one level; a hierarchy needs at least two: the values and the root")]
    if all(len(set(row.labels)) == 1 for row in even):
        return [Finding("one-level", "no value below the root; a hierarchy needs at least one")]
    named = [row for row in even if "" not in row.labels]
    findings = [*_uneven(kept, height + 1), *_empty(even), *_roots(named), *_parents(named), *_ancestors(named)]
    if values is not None:
        findings += _coverage(even, values, numeric, quote_values)
    if k is not None:
        findings += _few_values(even, height, k)
    return [*findings, *_several_levels(named), *_repeated_levels(even, height)]


# ---- is it a tree? ----------------------------------------------------------------------------------------------


def _of_the_usual_width(rows: Sequence[HierarchyRow]) -> list[HierarchyRow]:
    width, _ = Counter(len(row.labels) for row in rows).most_common(1)[0]
    return [row for row in rows if len(row.labels) == width]


def _uneven(rows: Sequence[HierarchyRow], usual: int) -> Iterator[Finding]:
    odd: dict[int, list[HierarchyRow]] = defaultdict(list)
    for row in rows:
        if len(row.labels) != usual:
            odd[len(row.labels)].append(row)
    for width, group in odd.items():
        rest = len(rows) - sum(map(len, odd.values()))
        message = (
            f"{_count(len(group), 'row')} of {_count(width, 'level')} where {rest} "
            f"{'has' if rest == 1 else 'have'} {usual}; rows must be of one width"
        )
        yield Finding("uneven-rows", message, count=len(group), lines=_lines(group))


def _empty(rows: Sequence[HierarchyRow]) -> Iterator[Finding]:
    for level in range(len(rows[0].labels)):
        group = [row for row in rows if row.labels[level] == ""]
        if group:
            advice = "repeat the one below where a level is missing" if level else "a null needs no row"
            message = f"{_count(len(group), 'row')} with an empty label at level {level}; {advice}"
            yield Finding("empty-label", message, level=level, count=len(group), lines=_lines(group))


def _roots(rows: Sequence[HierarchyRow]) -> Iterator[Finding]:
    roots = Counter(row.labels[-1] for row in rows)
    if not roots:
        return
    height, usual = len(rows[0].labels) - 1, roots.most_common(1)[0][0]
    if len(roots) > 1:
        message = (
            f"the last level has {len(roots)} values ({_some(roots)}); it must be one root: "
            "end every row with one and the same label, such as '*'"
        )
        odd = [row for row in rows if row.labels[-1] != usual]
        yield Finding(
            "several-roots", message, level=height, count=len(roots), lines=_lines(odd), examples=_first(roots)
        )
    else:
        below = [row for row in rows if any(a == usual != b for a, b in _steps(row))]
        if below:
            message = f"the root {usual!r} stands below another value in {_count(len(below), 'row')}"
            yield Finding("root-below", message, level=height, count=len(below), lines=_lines(below))


def _parents(rows: Sequence[HierarchyRow]) -> Iterator[Finding]:
    parents: dict[str, dict[str, HierarchyRow]] = defaultdict(dict)
    for row in rows:
        for below, above in _steps(row):
            if below != above:
                parents[below].setdefault(above, row)
    roots = {row.labels[-1] for row in rows}
    for label, seen in parents.items():
        if len(seen) > 1 and label not in roots:
            two = len(seen) == 2
            named = " and ".join(map(repr, seen)) if two else _some(seen)
            message = (
                f"{label!r} has {'two' if two else len(seen)} parents, {named}; "
                f"give each value one parent, or rename {'one of the two' if two else 'all but one'}"
            )
            lines = _lines(list(seen.values())[1:])
            yield Finding("several-parents", message, count=len(seen), lines=lines, examples=tuple(seen))


def _ancestors(rows: Sequence[HierarchyRow]) -> Iterator[Finding]:
    """Labels that have one parent each way up, but meet their ancestors on other levels in other rows."""
    chains: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for at, label in enumerate(row.labels):
            if len(row.labels) - at > len(chains.get(label, ())):
                chains[label] = row.labels[at:]
    odd: dict[str, HierarchyRow] = {}
    for row in rows:
        for at, label in enumerate(row.labels):
            chain, here = chains[label], row.labels[at:]
            if chain[-len(here) :] != here and list(dict.fromkeys(chain)) == list(dict.fromkeys(here)):
                odd.setdefault(label, row)
    for label, row in odd.items():
        message = f"{label!r} meets its ancestors on other levels in other rows; give it one ancestor per level"
        yield Finding("several-ancestors", message, lines=_lines([row]), examples=(label,))


# ---- does it fit the data and the policy? ---------------------------------------------------------------------------


def _general_labels(rows: Sequence[HierarchyRow]) -> set[str]:
    return {above for row in rows for below, above in _steps(row) if below != above}


def _coverage(
    rows: Sequence[HierarchyRow], values: Iterable[str | None], numeric: bool, quote_values: bool
) -> Iterator[Finding]:
    cells = Counter(canonical_number(v) if numeric else v for v in values if v)
    known = {label for row in rows for label in row.labels}
    general = _general_labels(rows)
    kinds: list[tuple[Kind, str, list[str]]] = [
        ("uncovered-values", "not in the hierarchy", [v for v in cells if v not in known]),
        ("general-values", "general, not ground", [v for v in cells if v in general]),
    ]
    for kind, what, found in kinds:
        if found:
            message = (
                f"{_count(len(found), 'value')} of the data (in {_count(sum(cells[v] for v in found), 'cell')}) "
                f"{'is' if len(found) == 1 else 'are'} {what}"
            )
            if quote_values:
                message += f": {_some(found)}"
            yield Finding(kind, message, level=0, count=len(found), examples=_first(found) if quote_values else ())


def _few_values(rows: Sequence[HierarchyRow], height: int, k: int) -> Iterator[Finding]:
    """Levels on which no policy with this k can hold; the root, which never has two values, goes without saying."""
    general = _general_labels(rows)
    ground = [row.labels for row in rows if row.labels[0] not in general]
    for level in range(height):
        count = len({labels[level] for labels in ground})
        if count < k:
            message = (
                f"level {level} has {_count(count, 'value')}, fewer than k = {k}; no policy with this k can hold there"
            )
            yield Finding("few-values", message, level=level, count=count)


# ---- what is odd -----------------------------------------------------------------------------------------------------


def _several_levels(rows: Sequence[HierarchyRow]) -> Iterator[Finding]:
    levels: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        for level, label in enumerate(row.labels):
            levels[label].add(level)
    found = [label for label, at in levels.items() if len(at) > 1]
    if found:
        message = (
            f"{_count(len(found), 'label')} on several levels ({_some(found)}); "
            "such a label is one node, at the lowest of them"
        )
        yield Finding("several-levels", message, "note", count=len(found), examples=_first(found))


def _repeated_levels(rows: Sequence[HierarchyRow], height: int) -> Iterator[Finding]:
    for level in range(1, height + 1):
        if all(row.labels[level] == row.labels[level - 1] for row in rows):
            message = f"level {level} is the same as level {level - 1} in every row; it could be left out"
            yield Finding("repeated-level", message, "note", level=level)


# ---- wording ---------------------------------------------------------------------------------------------------------


def _steps(row: HierarchyRow) -> Iterator[tuple[str, str]]:
    return zip(row.labels, row.labels[1:], strict=False)


def _lines(rows: Iterable[HierarchyRow]) -> tuple[int, ...]:
    return tuple(row.line for row in rows if row.line is not None)


def _first(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(labels)[:SHOWN]


def _some(labels: Iterable[str]) -> str:
    names = [repr(label) for label in labels]
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
