"""Which columns a provider could sell, and by which others they are found, so that no column is both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pacas.cli.start.choices import Choices
from pacas.core.words import counted
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.hierarchies.suggesting import why_none
from pacas.suggest.mapping.column_names import words_of
from pacas.suggest.matches.answering import AskingRows, SuggestedMatch
from pacas.suggest.matches.match_columns import LAST, suggest_matches
from pacas.suggest.roles.suggested import ColumnRole, SuggestedRole

ALL_BUT = 0.9
"""Rows that columns single out, to sell by them what is not declared: of fewer, the linter says that little is sold."""
TRIED = 6
"""Matches of an attribute that are weighed against those of others."""
LONGEST_NAME = 200
"""Characters of a name that ledgers have room for, with what they say of it."""
OF_PEOPLE = frozenset(
    words_of("age birthdate birthplace ethnicity firstname gender lastname marital patient person race sex ssn surname")
)
"""Words of columns that only people have."""


@dataclass(frozen=True)
class SoldDraft:
    """What is sold, and how it is found; and why the other columns are not."""

    matches: Mapping[str, SuggestedMatch]
    unsold: Mapping[str, str]
    """Per column that is neither sold nor found by: why."""

    @property
    def public(self) -> set[str]:
        """The columns that people, or things, are found by."""
        return {column for match in self.matches.values() for column in match.columns}


def draft_sold(table: CodedTable, roles: Iterable[SuggestedRole], choices: Choices) -> SoldDraft:
    """As much as can be sold by columns that tell it for sure."""
    of = {one.attribute: one for one in roles}
    unsold = {name: why for name, column in table.columns.items() if (why := _unfit(column, of[name]))}
    rows = AskingRows.own(table)
    fit = [name for name in table.columns if name not in unsold]
    found = {name: suggest_matches(rows, name, most=TRIED, together=False) for name in fit}
    if not any(one.alone >= ALL_BUT for matches in found.values() for one in matches):
        untold = [name for name, matches in found.items() if not any(can_be_declared(table, one) for one in matches)]
        found |= {name: suggest_matches(rows, name, most=TRIED) for name in untold}
    alone = _alone(found)
    sure = {name: _sure(table, name, matches, alone) for name, matches in found.items()}
    unsold |= {name: _untold(found[name]) for name, matches in sure.items() if not matches}
    chosen = {
        name: rows.judged(name, match.columns)
        for name, match in _chosen(table, {name: matches for name, matches in sure.items() if matches}).items()
    }
    for name, match in list(chosen.items()):
        if not choices.confirm(f"Sell {name}, found by {', '.join(match.columns)}?", True):
            del chosen[name]
            unsold[name] = "you said so"
    draft = SoldDraft(chosen, unsold)
    return SoldDraft(chosen, {name: why for name, why in unsold.items() if name not in draft.public})


def _unfit(column: ProfiledColumn, role: SuggestedRole) -> str | None:
    """Why a column cannot be sold by itself."""
    if not column.name.isprintable():
        return "its name has a line break, or another character that cannot be printed: rename it"
    if len(column.name) > LONGEST_NAME:
        return f"its name has more than {LONGEST_NAME} characters: shorten it"
    empty = len(column.codes) - column.present
    if role.role is ColumnRole.IDENTIFIER:
        return f"it names people or things ({role.why})"
    if empty and column.present:
        return f"{counted(empty, 'cell is', 'cells are')} empty: what is sold has a value in every row"
    return why_none(column)


def _alone(found: Mapping[str, Iterable[SuggestedMatch]]) -> list[SuggestedMatch]:
    """What singles rows out: for one attribute, and so for all."""
    single = {one.columns: one for matches in found.values() for one in matches if one.alone >= ALL_BUT}
    return sorted(single.values(), key=lambda one: (-one.alone, one.columns))[:TRIED]


def _sure(
    table: CodedTable, name: str, found: Iterable[SuggestedMatch], alone: Iterable[SuggestedMatch]
) -> list[SuggestedMatch]:
    """Matches by which each that is found has one value: it is found alone, or rows are declared to share it."""
    declared = [one for one in found if not one.identifies and can_be_declared(table, one)]
    return declared + [replace(one, attribute=name) for one in alone if name not in one.columns]


def can_be_declared(table: CodedTable, one: SuggestedMatch) -> bool:
    """Whether a match's columns determine what is sold, in every row."""
    return one.tells == 1.0 and all(table[column].present == table.rows for column in one.columns)


def _untold(found: Iterable[SuggestedMatch]) -> str:
    for one in found:
        by = ", ".join(one.columns)
        if one.tells == 1.0:
            return f"{by} would find it, but has empty cells: fill them"
        return f"{by} would find it, but in {1 - one.tells:.1%} of the groups there are several values: mend those rows"
    return "no three columns tell it"


def _chosen(table: CodedTable, sure: Mapping[str, list[SuggestedMatch]]) -> dict[str, SuggestedMatch]:
    """Greedily the columns to find by that tell most others; what is found by is not sold, nor the other way round.

    Columns that several rows share go first, and then those that single rows out.
    """
    sold: dict[str, SuggestedMatch] = {}
    public: set[str] = set()
    shared = {name: [one for one in matches if not one.identifies] for name, matches in sure.items()}
    for matches in (shared, sure):
        _choose(table, matches, sold, public)
    return {name: sold[name] for name in sure if name in sold}


def _choose(
    table: CodedTable,
    sure: Mapping[str, list[SuggestedMatch]],
    sold: dict[str, SuggestedMatch],
    public: set[str],
) -> None:
    while True:
        open_to = {
            match.columns: match
            for matches in sure.values()
            for match in matches
            if not sold.keys() & set(match.columns)
        }
        told = {columns: _told(columns, sure, {*sold, *public}) for columns in open_to}
        best = max(open_to, key=lambda one: _rank(table, open_to[one], len(told[one])), default=None)
        if best is None or not told[best]:
            return
        sold |= told[best]
        public |= set(best)


def _rank(table: CodedTable, one: SuggestedMatch, told: int) -> tuple[object, ...]:
    """What tells most attributes to most rows; of equal ones short values before long ones, and the fewest columns."""
    awkward = sum(table[column].kind in LAST for column in one.columns)
    return round(told * (one.alone if one.identifies else one.answers), 1), -awkward, -len(one.columns)


def _told(
    columns: tuple[str, ...], sure: Mapping[str, list[SuggestedMatch]], taken: set[str]
) -> dict[str, SuggestedMatch]:
    """What columns tell of attributes that are not taken yet."""
    return {
        name: match
        for name, matches in sure.items()
        for match in matches
        if match.columns == columns and name not in taken and name not in columns
    }


def is_about_people(table: CodedTable, roles: Iterable[SuggestedRole]) -> bool:
    """Whether a row looks like a person's: by the names of columns."""
    sensitive = any(one.role is ColumnRole.SENSITIVE for one in roles)
    return sensitive or any(set(words_of(name)) & OF_PEOPLE for name in table.columns)
