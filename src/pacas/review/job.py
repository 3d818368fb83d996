"""What is reviewed: a table, how it is cleaned, where the result goes, and the provider as this buyer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pacas.client.buying.offers import Offered, find_offers
from pacas.client.buying.own_names import in_own_names
from pacas.client.safe_clean import SafeClean
from pacas.engine.contract import Engine, Source, Table
from pacas.formats.journal import offers_digest, run_parts
from pacas.protocol.marketplace import Marketplace
from pacas.remote.verifying import CheckedReceipts


class OpenedOnce:
    """An engine that opens a relation once: a review runs its cleaning over and over, and looks at the same table."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine
        self._opened: dict[tuple[int, tuple[str, ...] | None], tuple[Source, Table]] = {}

    def open(self, source: Source, columns: Sequence[str] | None = None) -> Table:
        key = (id(source), None if columns is None else tuple(columns))
        if key not in self._opened:
            self._opened[key] = (source, self._engine.open(source, columns))
        return self._opened[key][1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def opened_once(engine: Engine[Any]) -> Engine[Any]:
    found: Any = OpenedOnce(engine)
    engine = found
    return engine


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReviewJob:
    """A cleaning that is ready to start, as `pacas clean` would make it, with a provider that is open."""

    source: Source
    cleaner: SafeClean
    choices: Mapping[str, Any]
    output: Path
    journal: Path
    key: Sequence[str]
    """The columns that name rows to people."""
    engine: Engine[Any]
    """One that opens the table once (`opened_once`)."""
    digest: str
    """The table's."""
    marketplace: Marketplace
    buyer: str
    credit: int | None
    """What the buyer's account could spend at first; None without a limit."""
    receipts: Mapping[str, str]
    """The names of the receipts that are kept, by purchase; more come with each."""
    receipts_folder: Path | None
    verify: Callable[[Sequence[Path]], CheckedReceipts] | None
    """Verifies receipts with the key that the provider publishes, where it signs."""
    command: str
    """The command line that this review was begun with, without its budget."""

    @cached_property
    def table(self) -> Table:
        """All columns, as they were given."""
        table: Table = self.engine.open(self.source, None)
        return table

    @cached_property
    def market(self) -> Marketplace:
        """The marketplace, by the client's own names."""
        return in_own_names(self.marketplace, self.cleaner.columns)

    @cached_property
    def offers(self) -> Mapping[str, Offered]:
        """What may be bought of it."""
        catalogue, cleaner = self.market.catalogue(), self.cleaner
        wanted = cleaner.wanted(catalogue, self.source)
        return find_offers(catalogue, wanted, self.source, cleaner.max_level, cleaner.prefer)

    def parts(self, cleaner: SafeClean) -> dict[str, Any]:
        """All that the outcome of a run follows from, as the journal knows it."""
        offers = offers_digest(self.market.catalogue())
        return run_parts(self.digest, cleaner, self.choices, offers, self.buyer)

    def with_budget(self, budget: int) -> ReviewJob:
        return replace(self, cleaner=self.cleaner.with_budget(budget))
