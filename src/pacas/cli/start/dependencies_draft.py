"""Which dependencies a client's file will hold its table to, and which it only mentions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from pacas.cli.start.choices import Choices
from pacas.cli.suggest.evidence import evidence_words
from pacas.core.dependency import FunctionalDependency
from pacas.formats.starters.lines import StarterLine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.evidence import LARGE
from pacas.suggest.dependencies.exceptions import Exceptions
from pacas.suggest.dependencies.given import judge_dependency
from pacas.suggest.dependencies.grading import FEWEST_GROUPS
from pacas.suggest.dependencies.suggested import SuggestedDependencies, SuggestedDependency

MOST = 60
"""Dependencies of the table's own that are written."""
MENTIONED = 12
"""Weak dependencies that are listed as comments."""
SURE, CLEAN = 0.75, 0.9
"""The least score of a dependency that repairs cells without anybody having looked at it. In a table where none has a
much better one, errors are so many that less will do."""
HALF = 0.5
"""The share of rows that must agree where a provider has said that a dependency holds; and that of exceptions that seem
right beyond which a cleaning would spoil more cells than it mends."""
TYPOS = 2
"""Misspelled right sides that speak for a dependency beside those that the provider tells."""
TWICE, MORE = 2, 0.005
"""What is wrong with a right side one left side tells: another with so many more exceptions is wrong itself."""
FEW, SLIPS = 10, 4
"""Exceptions below which one in so many must be typo-like, and where they are so few themselves, one letter or two from
what it should be: there is little to mend, and as much to spoil."""
MOSTLY = 3
"""Where one exception in so many is typo-like they are errors, whatever else they go with."""
MANY = 0.15
"""The share of rows that may be exceptions where groups are not large."""
TWO, SPOKEN_FOR = 2, 0.1
"""Exceptions that other columns speak for, and the share of them, from which on they may be right; in a dependency of
which others are as good as sure an error of the left side looks like that."""
UNEVEN = 6
"""Errors strike every group alike. Exceptions that are this many deviations more uneven belong to their groups."""
EMPTY = 0.1
"""The share of rows without a right side beyond which that is no error, and nobody wants it filled in."""

HARM = "what it would change may be right"
LESS = "with it less is mended than by what your table suggests"


class ToldCounts(Enum):
    """How far what a provider tells counts."""

    FIRST = "first"
    """What the table suggests counts only where it is not in the way."""
    BESIDE = "beside"
    """What the table suggests counts, too."""
    ASIDE = "aside"
    """Only what the table suggests counts."""


class DependenciesDraft:
    """The provider's own first, then what the table strongly suggests; weak ones are comments."""

    def __init__(
        self,
        table: CodedTable,
        published: Iterable[FunctionalDependency],
        found_by: Iterable[FunctionalDependency],
        suggested: SuggestedDependencies,
        choices: Choices,
        harmful: Collection[FunctionalDependency] = (),
        counts: ToldCounts = ToldCounts.FIRST,
    ) -> None:
        """`harmful` are those by which a cleaning would change cells that may be right."""
        self._table, self._harmful, self._counts = table, harmful, counts
        self._told: dict[FunctionalDependency, tuple[str, bool]] = {}
        """Why, and whether it counts."""
        self._choices = choices
        self._told_by, self._tells = _sides(suggested)
        if counts is ToldCounts.ASIDE:
            self._add_suggested(suggested)
        for fd in published:
            self._add_told(fd, "the provider says that it holds in its table")
        self._add_matches(found_by)
        if counts is not ToldCounts.ASIDE:
            self._add_suggested(suggested)

    def _add_matches(self, found_by: Iterable[FunctionalDependency]) -> None:
        """By what the provider finds an attribute, it tells it, unless the table is of another mind."""
        told = {fd.rhs for fd in self.fds}
        for fd in found_by:
            one = judge_dependency(self._table, fd)
            if fd.rhs not in told and one is not None and one.agreement >= HALF:
                self._add_told(fd, f"the provider has one value for each; {evidence_words(one)}")

    def _add_told(self, fd: FunctionalDependency, why: str) -> None:
        """It holds; but where left sides are wrong, right ones would be made so."""
        doubt = HARM if fd in self._harmful else LESS if self._counts is ToldCounts.ASIDE else None
        self._add(fd, f"{doubt}: {why}" if doubt else why, not doubt)

    def _add_suggested(self, suggested: SuggestedDependencies) -> None:
        told = list(self.fds) if self._counts is ToldCounts.FIRST else []
        broken = [fd for fd in told if (one := judge_dependency(self._table, fd)) is not None and one.exceptions]
        best: dict[str, SuggestedDependency] = {}
        exact = {one.fd.rhs: one for one in sorted(suggested.strong, key=lambda one: one.rows) if one.is_exact}
        misspelled = {one.fd.rhs for one in suggested.strong if one.typo}
        sure = SURE if any(one.score >= CLEAN for one in suggested.strong) else 0.0
        for one in suggested.strong[:MOST]:
            doubt = self._told_otherwise(one, told, broken) or self._doubt(
                one, misspelled, best.get(one.fd.rhs), sure, exact
            )
            is_harmful = not doubt and one.fd in self._harmful
            doubt = HARM if is_harmful else doubt
            why = f"{doubt}: {evidence_words(one)}" if doubt else evidence_words(one)
            if self._add(one.fd, why, not doubt) or is_harmful:
                best.setdefault(one.fd.rhs, one)
        for one in suggested.weak[:MENTIONED]:
            self._add(one.fd, f"weak: {evidence_words(one)}", False)

    def _told_otherwise(
        self, one: SuggestedDependency, told: Sequence[FunctionalDependency], broken: Sequence[FunctionalDependency]
    ) -> str | None:
        """Why a dependency would be in the way of those that the provider tells; `broken` ones repair cells."""
        if any(one.fd.rhs == fd.rhs for fd in told):
            return "the provider tells another"
        if any(set(one.fd.lhs) & set(fd.attributes) for fd in broken):
            return "what the provider tells repairs its left side"
        if told and one.typo < TYPOS:
            return "its right side shows no errors of its own"
        return None

    def _doubt(
        self,
        one: SuggestedDependency,
        misspelled: set[str],
        best: SuggestedDependency | None,
        sure: float,
        exact: Mapping[str, SuggestedDependency],
    ) -> str | None:
        """Why a dependency that is strong by itself had better be looked at first."""
        empty = _empty_share(self._table, one.fd)
        if one.score < sure:
            return "not as sure"
        if empty > EMPTY:
            return f"{empty:.0%} of the rows have none, and would get one"
        if not one.exceptions:
            return None
        exceptions = Exceptions.of(self._table, one.fd)
        if exceptions.telling_groups < FEWEST_GROUPS:
            return "hardly a group has another value than most rows"
        if 2 * one.blocks > one.exceptions:
            return "its exceptions come in blocks, and may be right"
        if not one.typo and misspelled & set(one.fd.lhs):
            return "its exceptions may be errors of its left side"
        if one.fd.rhs in exact and exact[one.fd.rhs].rows >= one.rows:
            return f"{exact[one.fd.rhs].fd} has no exceptions"
        if exceptions.unevenness > UNEVEN:
            return "its exceptions stand in few groups, where they may be right"
        if best is not None and 1 - one.agreement > TWICE * (1 - best.agreement) + MORE:
            return f"{best.fd} has fewer exceptions"
        return self._may_be_right(one, exceptions)

    def _may_be_right(self, one: SuggestedDependency, exceptions: Exceptions) -> str | None:
        """What the rest of their rows says for exceptions; nothing, where the left side itself determines it."""
        if one.exceptions < FEW and (one.typo * SLIPS < one.exceptions or not _are_slips(one)):
            return "its few exceptions hardly look like errors"
        if one.exceptions > MANY * one.rows and one.rows < LARGE * one.groups:
            return "its exceptions are many, for groups so small"
        apart = [
            name for name in self._table.columns if name not in self._told_by.get(one.fd.lhs[0], one.fd.attributes)
        ]
        column = exceptions.goes_with(apart) if one.typo * MOSTLY < one.exceptions else None
        if column is not None:
            return f"its exceptions go with {column}, and may be right"
        others = [name for name in self._tells.get(one.fd.rhs, ()) if name in apart]
        spoken_for = exceptions.spoken_for(others) if one.score < CLEAN else 0
        if spoken_for >= max(TWO, SPOKEN_FOR * one.exceptions):
            return "other columns speak for its exceptions"
        left, right = one.fd.lhs[0], one.fd.rhs
        if left in self._told_by.get(right, ()):  # what seems right beside a wrong left side mends that
            return None
        beside = self._told_by.get(left, set()).difference(one.fd.attributes)
        if exceptions.seem_right(apart, beside) > HALF:
            return "most of its exceptions go with the rest of their rows"
        return None

    def _add(self, fd: FunctionalDependency, why: str, suggested: bool) -> bool:
        if fd in self._told:
            return False
        is_on = self._choices.confirm(f"Should {fd} hold ({why})?", suggested)
        self._told[fd] = why, is_on
        return is_on

    @property
    def fds(self) -> list[FunctionalDependency]:
        """Those that count."""
        return [fd for fd, (_, is_on) in self._told.items() if is_on]

    @property
    def lines(self) -> list[StarterLine]:
        return [StarterLine.item(str(fd), why, is_on=is_on) for fd, (why, is_on) in self._told.items()]

    def as_json(self) -> list[dict[str, Any]]:
        return [{"fd": str(fd), "why": why, "on": is_on} for fd, (why, is_on) in self._told.items()]


def _empty_share(table: CodedTable, fd: FunctionalDependency) -> float:
    """Of the rows that have a left side, the share without a right side."""
    there = np.logical_and.reduce([table[name].codes >= 0 for name in fd.lhs])
    return float((table[fd.rhs].codes[there] < 0).mean()) if there.any() else 0.0


def _sides(suggested: SuggestedDependencies) -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """Per column, itself and what it strongly determines; and the columns that tell it, strongly or not."""
    told_by: dict[str, set[str]] = {}
    tells: dict[str, list[str]] = {}
    for one in (*suggested.strong, *suggested.redundant):
        told_by.setdefault(one.fd.lhs[0], {one.fd.lhs[0]}).add(one.fd.rhs)
    for one in (*suggested.strong, *suggested.redundant, *suggested.weak):
        if len(one.fd.lhs) == 1:
            tells.setdefault(one.fd.rhs, []).append(one.fd.lhs[0])
    return told_by, tells


def _are_slips(one: SuggestedDependency) -> bool:
    """Whether a few exceptions are misspelled; more are not looked at letter by letter."""
    from rapidfuzz.distance import OSA  # here: slow to import, rarely needed

    apart = [OSA.distance(each.value, each.majority) for each in one.examples if each.kind == "typo"]
    return one.exceptions > TWO or any(distance <= TWO for distance in apart)
