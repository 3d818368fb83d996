"""What is reviewed: a table, how it is cleaned, where the result goes, and the providers as this buyer sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pacas.client.buying.panel import Seller
from pacas.client.buying.sellers import FoundSellers, Markets
from pacas.client.safe_clean import SafeClean
from pacas.engine.contract import Engine, Source, Table
from pacas.formats.journal.run_parts import offers_digests, run_parts
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer
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
    markets: Markets
    buyer: str | Mapping[str, str]
    published: Mapping[str, Mapping[str, Offer]] = field(default_factory=dict)
    """What those of several providers offer that may be away when the review is taken up again."""
    late: Mapping[str, Marketplace] = field(default_factory=dict)
    """Those of several that are called at the end."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    """Who buys at those at URLs that have been opened by now."""
    receipts: Callable[[], Mapping[str, str]]
    """The names of the receipts that are kept by now, by purchase; those of several providers in their folders."""
    receipts_folder: Path | None
    verify: Mapping[str | None, Callable[[Sequence[Path]], CheckedReceipts]]
    """By provider: verifies receipts with the key that it publishes, where it signs."""
    command: str
    """The command line that this review was begun with, without its budget."""

    @cached_property
    def table(self) -> Table:
        """All columns, as they were given."""
        table: Table = self.engine.open(self.source, None)
        return table

    @cached_property
    def found(self) -> FoundSellers:
        """Who can be bought from, by the client's own names."""
        return self.cleaner.sellers(self.markets, self.source, self.late)

    @property
    def sellers(self) -> Mapping[str | None, Seller]:
        """By name, or None for one alone; those that were away at first, once they are there."""
        came: dict[str | None, Seller] = {n: one.call() for n, one in self.found.late.items() if n in self.accounts}
        return {**self.found.sellers, **came}

    @property
    def is_panel(self) -> bool:
        """Whether there are several, who go by their names."""
        return None not in self.sellers

    def parts(self, cleaner: SafeClean) -> dict[str, Any]:
        """All that the outcome of a run follows from, as the journal knows it."""
        return run_parts(self.digest, cleaner, self.choices, offers_digests(cleaner, self.markets), self.buyer)

    def with_budget(self, budget: int) -> ReviewJob:
        return replace(self, cleaner=self.cleaner.with_budget(budget))
