"""The relation made ready to sell from, and the ledger opened with its like, or anew."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from pacas.core.query import MAIN
from pacas.engine.contract import Engine, Source
from pacas.errors import LedgerChangedError, LedgerModeError
from pacas.provider.in_memory.shop import InMemoryShop
from pacas.provider.in_memory.stock import take_stock
from pacas.provider.ledger.entry import Opening
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.on_engine.memory_limit import too_large
from pacas.provider.on_engine.shop import EngineShop
from pacas.provider.sealed.earlier_sales import PART as EARLIER
from pacas.provider.sealed.noisy_prior import with_prior
from pacas.provider.sealed.opening import open_sealed
from pacas.provider.shop.contract import Shop, Tell
from pacas.provider.shop.fingerprint import ledger_mode, relation_digests
from pacas.provider.terms import Terms


class OpenedShop(NamedTuple):
    """What is sold from, and the ledger that it is recorded in."""

    shop: Shop[Any]
    ledger: Ledger
    began_anew: tuple[str, ...]
    """What had changed of its terms since the ledger was opened: nothing had been sold, so it was opened anew."""


class ShopOpening(NamedTuple):
    """All that a shop is opened with; `state` is the lock of what was sold."""

    engine: Engine[Any]
    sources: Mapping[str, Source]
    terms: Terms
    seed: int | None
    state: Lock
    tell: Tell

    def open(self, ledger: Ledger) -> OpenedShop:
        """Take stock, and open the ledger, anew if its terms have changed and nothing was sold.

        Only while a ledger is new are other writers held off meanwhile.
        """
        seen = ledger.opening()
        changed: tuple[str, ...] = ()
        if seen is not None:
            try:
                return self._again(ledger, seen)
            except (LedgerChangedError, LedgerModeError) as error:
                if _counts_sales(ledger, seen):
                    raise
                changed = error.parts
        if ledger.is_read_only:
            ledger = MemoryLedger()  # which is opened anew in its place, as a writer would
            seen = None
        with ledger.transaction():
            stored = ledger.opening()
            if stored is not None and (stored != seen or _counts_sales(ledger, stored)):  # another process was faster
                return self._again(ledger, stored)
            shop = self._ready(secret := _secret(self.seed))
            begin = ledger.open if stored is None else ledger.begin_anew
            begin(self._digests(shop), secret)
        return OpenedShop(shop, ledger, changed)

    def _again(self, ledger: Ledger, opening: Opening) -> OpenedShop:
        """What is sold from, if the ledger was opened with its like."""
        if (kept := ledger_mode(opening.fingerprint)) is not self.terms.quotes:
            raise LedgerModeError(kept.value, self.terms.quotes.value)
        shop = self._ready(secret := opening.seed if self.seed is None else _secret(self.seed))
        ledger.open(self._digests(shop), secret)
        return OpenedShop(shop, ledger, ())

    def _ready(self, secret: bytes) -> Shop[Any]:
        """The relation made ready to sell from: at sealed quotes; in memory, if there is room; or on the engine."""
        main, terms = self.sources[MAIN], self.terms
        if terms.sealing is not None:
            sealing = with_prior(self.engine, main, terms, terms.sealing, secret)
            return open_sealed(self.engine, main, terms, sealing, self.state, self.tell)
        table = too_large(self.engine, main, terms)
        if table is None:
            stock = take_stock(self.engine, self.sources, terms, secret, self.tell)
            return InMemoryShop(stock, secret, self.state)
        return EngineShop(self.engine, table, terms, secret, self.state, self.tell)

    def _digests(self, shop: Shop[Any]) -> dict[str, str]:
        return relation_digests(self.engine, self.sources) | shop.fingerprint()


def _counts_sales(ledger: Ledger, opening: Opening) -> bool:
    """Whether anything was sold, from this ledger or from earlier ones that it counts."""
    return ledger.has_sales or EARLIER in opening.fingerprint


def _secret(seed: int | None) -> bytes:
    """The support set's secret: random, unless a seed is given to repeat an experiment."""
    return secrets.token_bytes(32) if seed is None else str(seed).encode()
