"""Which columns to match an attribute by: at most three, that tell it nearly always and answer most rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from pacas.suggest.coded_table import CodedTable
from pacas.suggest.kind import Kind
from pacas.suggest.matches.answering import AskingRows, SuggestedMatch

TELLS, ANSWERS = 0.95, 0.5
"""The share of groups that must have one value, and of rows that must find one."""
ALONE = 0.95
"""Where a column singles out so many rows, no others are tried together."""
FEW_ANSWERS = 0.8
"""A match that answers less goes after one of single rows."""
MOST_COLUMNS, OFFERED = 3, 3
"""Columns of a match, and matches that are offered."""
TRIED, EXTENDED = 10, 4
"""Columns that are tried together, and pairs that are tried with a third."""
UNFIT = (Kind.EMPTY, Kind.CONSTANT, Kind.NEAR_CONSTANT)
LAST = (Kind.TEXT, Kind.MEASURE)
"""What nobody writes the same way twice: taken where nothing else tells."""


def suggest_matches(
    rows: AskingRows,
    attribute: str,
    candidates: Iterable[str] | None = None,
    most: int = OFFERED,
    *,
    together: bool = True,
) -> list[SuggestedMatch]:
    """The best matches for an attribute, by as few columns as will do; none where no three columns tell it.

    `together` says whether several columns are tried where none tells it alone but who it is.
    """
    usable = [c for c in candidates or rows.asked if c in rows.asked and c != attribute and _is_fit(rows.table, c)]
    singles = [rows.guessed(attribute, [column]) for column in usable]
    good = _confirmed(rows, _good(singles), most)
    if together and all(one.identifies and one.alone < ALONE for one in good):
        best = [one.columns[0] for one in _promising(singles)][:TRIED]
        tried = [column for column in usable if column in best]
        pairs = [rows.guessed(attribute, pair) for pair in combinations(tried, 2)]
        likely = _good(pairs) or _good(_with_a_third(rows, attribute, pairs, tried))
        good += _confirmed(rows, likely, most)
    return sorted(good, key=lambda one: _rank(rows.table, one))[:most]


def _confirmed(rows: AskingRows, likely: Iterable[SuggestedMatch], most: int) -> list[SuggestedMatch]:
    """The best of them that are good by all rows."""
    best = sorted(likely, key=lambda one: _rank(rows.table, one))[: 2 * most]
    return _good(rows.judged(one.attribute, one.columns) for one in best)


def _with_a_third(
    rows: AskingRows, attribute: str, pairs: Sequence[SuggestedMatch], tried: Sequence[str]
) -> list[SuggestedMatch]:
    sets = {frozenset((*pair.columns, c)) for pair in _promising(pairs)[:EXTENDED] for c in tried}
    return [
        rows.guessed(attribute, [c for c in rows.asked if c in columns])
        for columns in sorted(sets, key=sorted)
        if len(columns) == MOST_COLUMNS
    ]


def _promising(found: Iterable[SuggestedMatch]) -> list[SuggestedMatch]:
    """Those that answer most rows first, the surer of two that answer as many."""
    return sorted(found, key=lambda one: (-one.answers, -one.tells, one.columns))


def _is_good(one: SuggestedMatch) -> bool:
    return one.tells >= TELLS and one.answers >= ANSWERS


def _good(found: Iterable[SuggestedMatch]) -> list[SuggestedMatch]:
    return [one for one in found if _is_good(one)]


def _is_fit(table: CodedTable, column: str) -> bool:
    return table[column].kind not in UNFIT


def _rank(table: CodedTable, one: SuggestedMatch) -> tuple[object, ...]:
    """A match of things that are shared before one of single rows; what answers most, by the fewest columns."""
    awkward = sum(table[column].kind in LAST for column in one.columns)
    return (
        awkward,
        one.answers < FEW_ANSWERS,
        one.identifies,
        -round(one.answers, 2),
        len(one.columns),
        -one.tells,
        one.columns,
    )
