"""A client's file in the making: what it says of a table, and what a dry run of it would buy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pacas.cli.start.choices import Choices
from pacas.cli.start.columns_draft import ColumnsDraft
from pacas.cli.start.consulted import ConsultedProvider
from pacas.cli.start.dependencies_draft import DependenciesDraft, ToldCounts
from pacas.cli.start.harmful import TriedCleaning, try_cleaning
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.dependency import FunctionalDependency
from pacas.engine.contract import Engine, Source
from pacas.formats.starters.lines import StarterLine
from pacas.protocol.messages import Offer
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.dependencies.search import suggest_dependencies
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies

ENOUGH = 10**9
"""A budget for a dry run that nothing is too dear for."""


class ClientDraft:
    """What is known of one client's table, with or without a provider."""

    def __init__(self, table: CodedTable, provider: ConsultedProvider | None, choices: Choices) -> None:
        self._table, self._provider = table, provider
        self.suggested = suggest_dependencies(table)
        self.columns = ColumnsDraft(table, provider, choices)
        self._told = list(self.columns.published()), list(self.columns.found_by())
        counts, best = ToldCounts.FIRST, self._tried(ToldCounts.FIRST)
        for other in (ToldCounts.BESIDE, ToldCounts.ASIDE) if any(self._told) else ():
            if (tried := self._tried(other)).mends_more(best):
                counts, best = other, tried
        self.dependencies = self._draft(choices, counts, best.harmful)
        self.repairs_nothing = not any(best.changed.values()) and choices.are_taken
        """Whether all that counts holds already."""
        self.columns.disown(fd.rhs for fd in self.dependencies.fds)

    def _draft(
        self, choices: Choices, counts: ToldCounts, harmful: Collection[FunctionalDependency]
    ) -> DependenciesDraft:
        return DependenciesDraft(self._table, *self._told, self.suggested, choices, harmful, counts)

    def _tried(self, counts: ToldCounts) -> TriedCleaning:
        """What counts in place of what is harmful is tried, too, until nothing is."""
        harmful: set[FunctionalDependency] = set()
        told = {fd for fds in self._told for fd in fds}
        while (tried := try_cleaning(self._table, self._draft(Choices(), counts, harmful).fds, told)).harmful:
            harmful |= tried.harmful
        return TriedCleaning(harmful, tried.changed)

    def hierarchy_lines(self) -> list[StarterLine]:
        """For right sides: that the provider's own is used, or what could be built, as comments."""
        rights = dict.fromkeys(fd.rhs for fd in self.dependencies.fds)
        sold = {self.columns.called(attribute) for attribute in self._catalogue()}
        found = suggest_hierarchies(self._table, [one.fd for one in self.suggested.strong]) if rights else {}
        lines = [StarterLine(f"{name}: the provider's own is used", "", False) for name in rights if name in sold]
        built = [found[name] for name in rights if name not in sold and name in found]
        return lines + [
            StarterLine.key(one.attribute, one.options, one.how, is_on=False) for one in built if one.options
        ]

    def send_lines(self) -> list[StarterLine]:
        """What is sent of a row to find what a dependency is about, as the provider calls it."""
        rights = {fd.rhs for fd in self.dependencies.fds}
        wanted = {name: one for name, one in self._catalogue().items() if self.columns.called(name) in rights}
        return [StarterLine.key(name, list(offer.columns)) for name, offer in wanted.items()]

    def _catalogue(self) -> Mapping[str, Offer]:
        return {} if self._provider is None else self._provider.marketplace.catalogue()

    def _is_sold_any(self) -> bool:
        about = {attribute for fd in self.dependencies.fds for attribute in fd.attributes}
        return any(self.columns.called(attribute) in about for attribute in self._catalogue())

    def dry_run(self, source: Source, engine: Engine[Any]) -> Cleaning | None:
        """What would be bought if money were no object; None where there is nothing to buy."""
        if self._provider is None or not self._is_sold_any():
            return None
        cleaner = SafeClean(self.dependencies.fds, ENOUGH, columns=self.columns.columns())
        return cleaner.clean(source, self._provider.marketplace, engine=engine, dry_run=True)
