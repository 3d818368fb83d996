"""AskPrice over the wire: one request, or many by attribute at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pacas.protocol.messages import Refusal
from pacas.protocol.order_of_checks import REASON_OF
from pacas.provider.ledger.accounts import Account
from pacas.provider.provider import Provider
from pacas.server.answer_writers import QuoteWriter
from pacas.server.arrow_streams import ladders_stream, read_tuples
from pacas.server.limits import NeededColumns, QuoteLimit, ServiceSettings, check_batch, check_requests
from pacas.server.metrics import Metrics
from pacas.server.watch import Watch
from pacas.wire.shapes import QuoteRequest, quotes_reader


class Quoting:
    """Answers questions for prices, each counted against the limit of who asks. Quotes change no history."""

    def __init__(
        self,
        provider: Provider,
        settings: ServiceSettings,
        quotes: QuoteWriter,
        metrics: Metrics,
        limit: QuoteLimit,
        watch: Watch | None = None,
    ) -> None:
        self._provider, self._quotes, self._metrics, self._watch = provider, quotes, metrics, watch
        self._limit, self._most = limit, settings.batch
        self._read = quotes_reader(settings.batch)
        self._offers = provider.catalogue()
        self._needed = NeededColumns(self._offers)

        self.is_quick = provider.shop.keeps_quotes
        """Whether a quote is looked up; else it is computed, which may take long however small the question is."""

    def json(self, body: bytes, account: Account) -> bytes:
        """Quotes for requests in JSON."""
        check_requests(body, self._most)
        requests = self._read(body).requests
        if len(requests) == 1 and (level := requests[0].level) is not None:  # as most are; one is never too many
            self._limit.take(account, 1)
            return _quotes([self._at_level(requests[0], level, account.name)])
        self._limit.take(account, len(requests))
        by_attribute: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            by_attribute.setdefault(request.attribute, []).append(i)
        quotes = [b""] * len(requests)
        for attribute, places in by_attribute.items():
            told = self._some(attribute, [requests[i] for i in places], account.name)
            for i, quote in zip(places, told, strict=True):
                quotes[i] = quote
        return _quotes(quotes)

    def arrow(self, attribute: str, body: bytes, account: Account) -> bytes:
        """Quotes at all levels for tuples in Arrow's IPC stream."""
        tuples = read_tuples(body, self._most)
        check_batch(tuples.num_rows, self._most)
        self._limit.take(account, tuples.num_rows)
        columns = dict(zip(tuples.column_names, tuples.columns, strict=True))
        self._needed.check(attribute, columns.keys())
        prices = self._provider.quote_batch(attribute, columns, buyer=account.name).prices
        self._note(prices, account.name)
        return ladders_stream(self._quotes.prices(prices))

    def _at_level(self, asked: QuoteRequest, level: int, buyer: str) -> bytes:
        self._needed.check(asked.attribute, asked.tuple.keys())
        quote = self._provider.quote(asked.request(level), buyer=buyer)
        refused = isinstance(quote, Refusal)
        self._metrics.quoted(not refused, refused)
        if isinstance(quote, Refusal) and self._watch is not None:
            self._watch.refused(buyer, quote.reason.value, 1)
        return self._quotes.quote(quote)

    def _some(self, attribute: str, asked: Sequence[QuoteRequest], buyer: str) -> list[bytes]:
        """The quotes of requests for one attribute; one that is none is asked alone, to say what is wrong with it."""
        offer = self._offers.get(attribute)
        height = -1 if offer is None else offer.hierarchy.height
        for one in asked:
            if (one.level or 0) > height or not self._needed.are(attribute, one.tuple.keys()):
                self._at_level(one, one.level or 0, buyer)  # raises
        columns = {column: [one.tuple[column] for one in asked] for column in self._offers[attribute].columns}
        prices = self._provider.quote_batch(attribute, columns, buyer=buyer).prices
        levels = np.array([[-1 if one.level is None else one.level] for one in asked])
        self._note(prices[(levels < 0) | (levels == np.arange(height + 1))], buyer)
        write = self._quotes
        return [
            write.ladder(ladder) if one.level is None else write.price(ladder[one.level])
            for one, ladder in zip(asked, prices.tolist(), strict=True)
        ]

    def _note(self, prices: np.ndarray[Any, np.dtype[np.int64]], buyer: str) -> None:
        refusals = int((prices < 0).sum())
        self._metrics.quoted(prices.size - refusals, refusals)
        if refusals and self._watch is not None:
            for refused, count in zip(*np.unique(prices[prices < 0], return_counts=True), strict=True):
                self._watch.refused(buyer, REASON_OF[int(refused)].value, int(count))


def _quotes(quotes: Iterable[bytes]) -> bytes:
    return b'{"quotes":[%b]}' % b",".join(quotes)
