"""Which dependencies a client's file will hold its table to, and which it only mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pacas.cli.start.choices import Choices
from pacas.cli.suggest.evidence import evidence_words
from pacas.core.dependency import FunctionalDependency
from pacas.formats.starters.lines import StarterLine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.evidence import PairCounts
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
"""The share of rows that must agree where a provider has said that a dependency holds."""
TYPOS = 2
"""Misspelled right sides that speak for a dependency beside those that the provider tells."""
TWICE, MORE = 2, 0.005
"""What is wrong with a right side one left side tells: another with so many more exceptions is wrong itself."""
EMPTY = 0.1
"""The share of rows without a right side beyond which that is no error, and nobody wants it filled in."""


class DependenciesDraft:
    """The provider's own first, then what the table strongly suggests; weak ones are comments."""

    def __init__(
        self,
        table: CodedTable,
        published: Iterable[FunctionalDependency],
        found_by: Iterable[FunctionalDependency],
        suggested: SuggestedDependencies,
        choices: Choices,
    ) -> None:
        self._table = table
        self._told: dict[FunctionalDependency, tuple[str, bool]] = {}
        """Why, and whether it counts."""
        self._choices = choices
        for fd in published:
            self._add(fd, "the provider says that it holds in its table", True)
        self._add_matches(found_by)
        self._add_suggested(suggested)

    def _add_matches(self, found_by: Iterable[FunctionalDependency]) -> None:
        """By what the provider finds an attribute, it tells it, unless the table is of another mind."""
        told = {fd.rhs for fd in self.fds}
        for fd in found_by:
            one = judge_dependency(self._table, fd)
            if fd.rhs not in told and one is not None and one.agreement >= HALF:
                self._add(fd, f"the provider has one value for each; {evidence_words(one)}", True)

    def _add_suggested(self, suggested: SuggestedDependencies) -> None:
        told = list(self.fds)
        best: dict[str, SuggestedDependency] = {}
        exact = {one.fd.rhs: one for one in sorted(suggested.strong, key=lambda one: one.rows) if one.is_exact}
        misspelled = {one.fd.rhs for one in suggested.strong if one.typo}
        sure = SURE if any(one.score >= CLEAN for one in suggested.strong) else 0.0
        for one in suggested.strong[:MOST]:
            doubt = self._told_otherwise(one, told) or self._doubt(one, misspelled, best.get(one.fd.rhs), sure, exact)
            why = f"{doubt}: {evidence_words(one)}" if doubt else evidence_words(one)
            if self._add(one.fd, why, not doubt):
                best.setdefault(one.fd.rhs, one)
        for one in suggested.weak[:MENTIONED]:
            self._add(one.fd, f"weak: {evidence_words(one)}", False)

    def _told_otherwise(self, one: SuggestedDependency, told: Sequence[FunctionalDependency]) -> str | None:
        """Why a dependency would only be in the way of those that the provider tells."""
        if any(one.fd.rhs == fd.rhs for fd in told):
            return "the provider tells another"
        if any(set(one.fd.lhs) & set(fd.attributes) for fd in told):
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
        if one.exceptions and _telling_groups(self._table, one.fd) < FEWEST_GROUPS:
            return "hardly a group has another value than most rows"
        if 2 * one.blocks > one.exceptions:
            return "its exceptions come in blocks, and may be right"
        if one.exceptions and not one.typo and misspelled & set(one.fd.lhs):
            return "its exceptions may be errors of its left side"
        if one.exceptions and one.fd.rhs in exact and exact[one.fd.rhs].rows >= one.rows:
            return f"{exact[one.fd.rhs].fd} has no exceptions"
        if best is not None and 1 - one.agreement > TWICE * (1 - best.agreement) + MORE:
            return f"{best.fd} has fewer exceptions"
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


def _telling_groups(table: CodedTable, fd: FunctionalDependency) -> int:
    """Groups by a left side of one attribute whose most frequent value is not the column's.

    Where they are few, all that speaks for the dependency are these, and a cleaning takes them for overwritten ones.
    """
    column = table[fd.rhs]
    counts = PairCounts.of(table[fd.lhs[0]].codes, column.codes, len(column.values))
    order = np.lexsort((counts.n, counts.place))
    place = counts.place[order]
    most = counts.value[order][np.append(place[1:] != place[:-1], True)[: len(place)]]
    return int((most != np.argmax(column.counts)).sum())
