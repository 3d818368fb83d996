"""`extend`: what is asked about rows that were found. It quotes, and buys only what is told to be bought.

OpenRefine previews a property for all rows in sight when it is clicked, and sends a call again up to three times, with
no key. So without `pay` and a ceiling nothing is bought, nor for more rows than it sends when it adds a column: those
are of a long page that is looked at, and their prices are told. And the key of a purchase follows from who buys which
value of which row at which level, so that it is charged once however often it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from pydantic_core import to_json

from pacas.core.money import CREDIT, credits_text
from pacas.errors import InputError, KeyReusedError, did_you_mean
from pacas.protocol.messages import REASONS, Offer, Payment, Reason, Refusal, Request, refused
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import Entry
from pacas.server.http.http_call import HttpCall
from pacas.server.reconcile.asked import FINEST, AskedProperty, Extension
from pacas.server.reconcile.candidates import PART
from pacas.server.reconcile.row_ids import RowIds
from pacas.server.service import Service
from pacas.server.thread_pools import Parts
from pacas.server.trading.answer_writers import padded

NOTHING = b"[{}]"
"""What is told of a row and a property where there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that is asked about: an attribute of a row that has the columns it is found by."""

    id: str
    asked: AskedProperty
    tuple: Mapping[str, str]
    offer: Offer

    def key(self, account: Account) -> str:
        """The purchase's idempotency key: the same when it is asked for again."""
        level = FINEST if self.asked.level is None else str(self.asked.level)
        named = json.dumps([account.name, self.id, self.asked.attribute, level], ensure_ascii=False)
        return f"reconcile/{sha256(named.encode()).hexdigest()}"

    def levels(self) -> range:
        """Those that may be bought. At the root there is nothing to know."""
        below = self.offer.hierarchy.height
        level = self.asked.level
        return range(below) if level is None else range(level, min(level + 1, below))


class Extending:
    """Answers data extensions."""

    def __init__(self, service: Service, ids: RowIds) -> None:
        self._service, self._ids = service, ids
        self._offers = service.provider.catalogue()

    async def answer(self, call: HttpCall, extension: Extension, account: Account, size: int) -> bytes:
        """What each property is of each row, whatever there is to tell, to a body of so many bytes."""
        for asked in extension.properties:
            self._check(asked)
        pools, known = self._service.pools, {}
        wanted = await pools.quotes.run(lambda: list(self._wanted(extension)))
        if any(asked.ceiling is not None for asked in extension.properties):
            known = await pools.store.run(self._bought_before, wanted, account)
        self._service.limit.take(account, len(wanted) - len(known), size)
        quoted = self._quotes([one for one in wanted if one.asked.ceiling is None], account.name)
        cells = await self._service.in_parts(call, account, quoted)
        for one in wanted:
            if one.asked.ceiling is not None:
                self._service.selling.go_on()
                entry = known.get(_place(one)) or await pools.sales.run(self._buy, one, account)
                cells[_place(one)] = self._bought(one, entry)
        return self._document(extension, cells)

    def _check(self, asked: AskedProperty) -> None:
        if asked.attribute not in self._offers:
            raise InputError(f"{asked.attribute[:50]!r} is not for sale; {did_you_mean(asked.attribute, self._offers)}")

    def _wanted(self, extension: Extension) -> Iterator[Wanted]:
        """What can be asked: of ids that are ours, with all columns that the attribute is found by."""
        for id_ in extension.ids:
            row = self._ids.row(id_)
            for asked in extension.properties:
                offer = self._offers[asked.attribute]
                if row is not None and set(offer.columns) <= row.keys():
                    yield Wanted(id_, asked, {column: row[column] for column in offer.columns}, offer)

    # ---- quotes ---------------------------------------------------------------------------------------------------

    def _quotes(self, wanted: list[Wanted], buyer: str) -> Parts[dict[tuple[str, str], bytes]]:
        quotes: dict[tuple[str, str], bytes] = {}
        for one in wanted:
            if quotes and not (self._service.quoting.is_quick and len(quotes) % PART):
                yield
            quotes[_place(one)] = self._quote(one, self._ladder(one, buyer))
        return quotes

    def _ladder(self, one: Wanted, buyer: str) -> list[int]:
        """A tuple's prices at all levels, refusals below 0."""
        columns = {column: [value] for column, value in one.tuple.items()}
        ladder: list[int] = (
            self._service.provider.quote_batch(one.asked.attribute, columns, buyer=buyer).prices[0].tolist()
        )
        refusals = sum(price < 0 for price in ladder)
        self._service.metrics.quoted(len(ladder) - refusals, refusals)
        return ladder

    def _quote(self, one: Wanted, ladder: list[int]) -> bytes:
        return padded(_cell(self._in_words(one, ladder)), self._longest_quote(one))

    def _in_words(self, one: Wanted, ladder: list[int]) -> str:
        """What a value costs, for people."""
        sold = {level: ladder[level] for level in one.levels() if ladder[level] >= 0}
        if not sold:
            at = "" if one.asked.level is None else f" at level {one.asked.level}"
            return f"not sold{at} ({self._reason(one, ladder)})"
        return ", ".join(f"{_credits(price)} at level {level}" for level, price in sold.items())

    def _reason(self, one: Wanted, ladder: list[int]) -> str:
        """Why nothing is sold, where that is told: what stands in the way of the coarsest that was asked for."""
        levels = one.levels()
        if not levels:
            return "no such level"
        reason = REASONS[-1 - ladder[levels[-1]]] if self._service.reasons else Reason.REFUSED
        return reason.value

    def _longest_quote(self, one: Wanted) -> int:
        """How long a quote is at most, where lengths are not to tell."""
        widest = self._service.widest
        if widest is None:
            return 0
        dearest = 10 ** len(str(widest.price // CREDIT)) * CREDIT - 1
        height = one.offer.hierarchy.height
        ladders = [[dearest] * (height + 1), *([refused(reason)] * (height + 1) for reason in REASONS)]
        return max(len(_cell(self._in_words(one, ladder))) for ladder in ladders)

    # ---- purchases ------------------------------------------------------------------------------------------------

    def _bought_before(self, wanted: list[Wanted], account: Account) -> dict[tuple[str, str], Entry]:
        find = self._service.provider.ledger.find
        asked = ((_place(one), find(account.name, one.key(account))) for one in wanted if one.asked.ceiling is not None)
        return {place: entry for place, entry in asked if entry is not None}

    def _buy(self, one: Wanted, account: Account) -> Entry | None:
        """Buy a value at the level that was asked for, or the finest within the ceiling; once, whoever else asks."""
        ceiling, key = one.asked.ceiling or 0, one.key(account)
        find = self._service.provider.ledger.find
        if (before := find(account.name, key)) is not None:  # while this call waited, another one was sent again
            return before
        ladder = self._ladder(one, account.name)
        level = next((level for level in one.levels() if 0 <= ladder[level] <= ceiling), None)
        if level is None:
            return None
        try:
            request = Request(one.tuple, one.asked.attribute, level)
            sold = self._service.desk.sell(Payment(request, ceiling, key), account)
        except KeyReusedError:  # another process has bought it at another level since
            return find(account.name, key)
        return None if isinstance(sold, Refusal) else sold

    def _bought(self, one: Wanted, entry: Entry | None) -> bytes:
        widest = self._service.widest
        length = 0 if widest is None else len(_cell(widest.labels[one.asked.attribute]))
        cell = _cell(entry.purchase.answer) if entry is not None else NOTHING
        return padded(cell, length)

    # ---- the answer -----------------------------------------------------------------------------------------------

    def _document(self, extension: Extension, cells: Mapping[tuple[str, str], bytes]) -> bytes:
        meta = [{"id": asked.attribute, "name": _column_name(asked)} for asked in extension.properties]
        rows = []
        for id_ in extension.ids:
            told = (
                b"%b:%b" % (to_json(asked.attribute), cells.get((id_, asked.attribute), NOTHING))
                for asked in extension.properties
            )
            rows.append(b"%b:{%b}" % (to_json(id_), b",".join(told)))
        return b'{"meta":%b,"rows":{%b}}' % (to_json(meta), b",".join(rows))


def _column_name(asked: AskedProperty) -> str:
    """What the new column is called: a price is not to be taken for a value, and OpenRefine's word says how to buy."""
    return asked.attribute if asked.ceiling is not None else f"{asked.attribute} (price; {asked.to_buy})"


def _credits(price: int) -> str:
    return f"{credits_text(price)} credit{'' if price == CREDIT else 's'}"


def _cell(text: str) -> bytes:
    return to_json([{"str": text}])


def _place(one: Wanted) -> tuple[str, str]:
    return one.id, one.asked.attribute
