"""AskPrice over the wire: one request, or many by attribute at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
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
from pacas.server.thread_pools import Parts
from pacas.server.watch import Watch
from pacas.wire.shapes import QuoteRequest, quotes_reader

Prices = np.ndarray[Any, np.dtype[np.int64]]

SHORT = 0.1
"""Seconds that a part of a large question should take."""
FIRST_PART, SMALLEST_PART = 4096, 8
"""Tuples of the first part where quotes are looked up, and of the smallest, with which others begin."""


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

    def json(self, body: bytes, account: Account) -> Parts[bytes]:
        """Quotes for requests in JSON."""
        check_requests(body, self._most)
        requests = self._read(body).requests
        if len(requests) == 1 and (level := requests[0].level) is not None:  # as most are; one is never too many
            self._limit.take(account, 1, len(body))
            return _quotes([self._at_level(requests[0], level, account.name)])
        self._limit.take(account, len(requests), len(body))
        by_attribute: dict[str, list[int]] = {}
        for i, request in enumerate(requests):
            by_attribute.setdefault(request.attribute, []).append(i)
        quotes = [b""] * len(requests)
        for attribute, places in by_attribute.items():
            told = yield from self._some(attribute, [requests[i] for i in places], account.name)
            for i, quote in zip(places, told, strict=True):
                quotes[i] = quote
        return _quotes(quotes)

    def arrow(self, attribute: str, body: bytes, account: Account) -> Parts[bytes]:
        """Quotes at all levels for tuples in Arrow's IPC stream."""
        tuples = read_tuples(body, self._most)
        check_batch(tuples.num_rows, self._most)
        self._limit.take(account, tuples.num_rows, len(body))
        columns = dict(zip(tuples.column_names, tuples.columns, strict=True))
        self._needed.check(attribute, columns.keys())
        prices = yield from self._ladders(attribute, columns, tuples.num_rows, account.name)
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

    def _ladders(self, attribute: str, columns: Mapping[str, Any], rows: int, buyer: str) -> Parts[Prices]:
        """The ladders of many tuples, so many at a time that others do not wait for long."""
        found: list[Prices] = []
        size, at = (FIRST_PART if self.is_quick else SMALLEST_PART), 0
        while not found or at < rows:
            if found:
                yield
            begin = perf_counter()
            part = {name: values[at : at + size] for name, values in columns.items()}
            found.append(self._provider.quote_batch(attribute, part, buyer=buyer).prices)
            at += size
            took = perf_counter() - begin
            size = size * 2 if took < SHORT / 2 else max(SMALLEST_PART, size // 2) if took > 2 * SHORT else size
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _some(self, attribute: str, asked: Sequence[QuoteRequest], buyer: str) -> Parts[list[bytes]]:
        """The quotes of requests for one attribute; one that is none is asked alone, to say what is wrong with it."""
        offer = self._offers.get(attribute)
        height = -1 if offer is None else offer.hierarchy.height
        for one in asked:
            if (one.level or 0) > height or not self._needed.are(attribute, one.tuple.keys()):
                self._at_level(one, one.level or 0, buyer)  # raises
        columns = {column: [one.tuple[column] for one in asked] for column in self._offers[attribute].columns}
        prices = yield from self._ladders(attribute, columns, len(asked), buyer)
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
