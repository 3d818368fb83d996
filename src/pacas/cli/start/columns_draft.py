"""Which of the client's columns are the provider's under other names, as the client's file will say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pacas.cli.start.choices import Choices
from pacas.cli.start.consulted import ConsultedProvider
from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import combine
from pacas.formats.starters.lines import StarterLine
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.mapping.column_mapping import MappedColumn


@dataclass(frozen=True, slots=True)
class ChosenColumn:
    """A line of [columns]: the provider's name, or None where its column of that name is another."""

    theirs: str | None
    why: str
    is_on: bool


ASKED = 1_000
"""Keys that a provider is asked about."""


def shared_keys(table: CodedTable, columns: Sequence[str]) -> list[list[str]]:
    """By column, values that several rows of a table share in all of the columns; of many, some."""
    keys = combine([table[name].keys for name in columns])
    rows = np.flatnonzero(keys.key >= 0)
    _, first, sizes = np.unique(keys.key[rows], return_index=True, return_counts=True)
    some = rows[first[sizes > 1]]
    some = some[:: max(len(some) // ASKED, 1)]
    return [[table[name].values[code] for code in table[name].codes[some]] for name in columns]


class ColumnsDraft:
    """The columns of one client's table beside those of a provider."""

    def __init__(self, table: CodedTable, provider: ConsultedProvider | None, choices: Choices) -> None:
        self._table, self._provider, self._choices = table, provider, choices
        self._chosen: dict[str, ChosenColumn] = {}
        if provider is not None:
            self._map(provider)

    def _map(self, provider: ConsultedProvider) -> None:
        """Columns of the same name need no line, unless they are different ones."""
        mapped = provider.mapped(self._table.columns)
        for one in mapped:
            if one.client != one.provider:
                self._chosen[one.client] = self._choice(one)
        taken = {choice.theirs for choice in self._chosen.values() if choice.is_on}
        for name in provider.names:
            if name in self._table.columns and name in taken and name not in self._chosen:
                self._chosen[name] = ChosenColumn(None, "another of your columns is that one", True)

    def _choice(self, one: MappedColumn) -> ChosenColumn:
        if not one.is_written_alike:
            why = f"{one.why}; written otherwise: bring both to one form, unless the provider's match is normalized"
            return ChosenColumn(one.provider, why, False)
        question = f"Is your column {one.client} the provider's {one.provider} ({one.why})?"
        return ChosenColumn(one.provider, one.why, self._choices.confirm(question, True))

    def called(self, theirs: str) -> str | None:
        """What the client calls a column of the provider's; None where it has none."""
        for own, choice in self._chosen.items():
            if choice.is_on and choice.theirs == theirs:
                return own
        is_another = theirs in self._chosen and self._chosen[theirs].is_on
        return theirs if theirs in self._table.columns and not is_another else None

    def published(self) -> Iterable[FunctionalDependency]:
        """The provider's own dependencies, between columns that the client has, in the client's names."""
        for fd in () if self._provider is None else self._provider.dependencies:
            left, right = [self.called(name) for name in fd.lhs], self.called(fd.rhs)
            if right is not None and None not in left:
                yield FunctionalDependency(tuple(name for name in left if name is not None), right)

    def found_by(self) -> Iterable[FunctionalDependency]:
        """What the provider's matches say: whoever shares the columns of one is told one value.

        Where several of the client's rows share them, the provider is asked for prices: it has one for a value that is
        sure, and says that it is ambiguous where it has several.
        """
        for offer in () if self._provider is None else self._provider.marketplace.catalogue().values():
            left, right = [self.called(name) for name in offer.columns], self.called(offer.attribute)
            if right is None or None in left or right in left:
                continue
            fd = FunctionalDependency(tuple(name for name in left if name is not None), right)
            if self._provider is not None and self._provider.answers_for(offer, shared_keys(self._table, fd.lhs)):
                yield fd

    def disown(self, needed: Iterable[str]) -> None:
        """What is sold, and cannot be found by the columns that the client has, is not the provider's to repair."""
        wanted = set(needed)
        for offer in () if self._provider is None else self._provider.marketplace.catalogue().values():
            own = self.called(offer.attribute)
            lacks = [column for column in offer.columns if self.called(column) is None]
            if own in wanted and lacks:
                why = f"the provider finds it by {', '.join(lacks)}, which {self._table.name} has not"
                self._chosen[str(own)] = ChosenColumn(None, why, True)

    def columns(self) -> dict[str, str | None]:
        """As `SafeClean` takes them: those that the provider's offers are about."""
        return {own: choice.theirs for own, choice in self._told().items() if choice.is_on}

    def lines(self) -> list[StarterLine]:
        told = sorted(self._told().items(), key=lambda one: not one[1].is_on)
        return [StarterLine.key(own, one.theirs or False, one.why, is_on=one.is_on) for own, one in told]

    def _told(self) -> dict[str, ChosenColumn]:
        """Dependencies may be about more columns than are sold; a file has no use for those."""
        offers = [] if self._provider is None else self._provider.marketplace.catalogue().values()
        named = {name for offer in offers for name in (offer.attribute, *offer.columns)}
        return {own: one for own, one in self._chosen.items() if one.theirs is None or one.theirs in named}
