"""AskPrice over the wire: one request, or many by attribute at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from pacas.protocol.messages import Refusal
from pacas.protocol.order_of_checks import REASON_OF
from pacas.provider.ledger.accounts import Account
from pacas.provider.provider import Provider
from pacas.server.http.json_pieces import AT_ONCE, read_pieces
from pacas.server.limits import NeededColumns, QuoteLimit, ServiceSettings, check_batch
from pacas.server.monitoring.metrics import Metrics
from pacas.server.monitoring.watch import Watch
from pacas.server.thread_pools import SHORT, Parts
from pacas.server.trading.answer_writers import QuoteWriter
from pacas.server.trading.arrow_streams import ladders_stream, read_tuples
from pacas.wire.shapes.quotes import QuoteRequest, quotes_reader

Prices = np.ndarray[Any, np.dtype[np.int64]]

FIRST_PART, SMALLEST_PART = 4096, 1
"""Tuples of the first part where quotes are looked up, and of the smallest, with which others begin."""
WRITTEN = 1024
"""Quotes that are written before others may come in between."""
PAUSE = 16
"""Pieces of a body that are read before."""


class _AskedTuples:
    """What is asked about one attribute: texts by column, at which level (-1: at all), and where it stands."""

    __slots__ = ("columns", "height", "levels", "places", "wrong")

    def __init__(self, columns: Iterable[str], height: int) -> None:
        self.columns: dict[str, list[str | None]] = {column: [] for column in columns}
        self.height = height
        self.levels: list[int] = []
        self.places: list[int] = []
        self.wrong: QuoteRequest | None = None
        """The first request that is none."""


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
        if len(body) <= AT_ONCE:
            requests = self._read(body).requests
            if len(requests) == 1 and (level := requests[0].level) is not None:  # as most are; one is never too many
                self._limit.take(account, 1, len(body))
                return _quotes([self._at_level(requests[0], level, account.name)])
            pieces = iter([requests])
        else:
            pieces = read_pieces(body, "requests", self._most, lambda piece: self._read(piece).requests)
        asked: dict[str, _AskedTuples] = {}
        count = 0
        for number, some in enumerate(pieces):
            if number % PAUSE == PAUSE - 1:
                yield
            for request in some:
                self._add(asked, count, request)
                count += 1
        self._limit.take(account, count, len(body))
        quotes = [b""] * count
        for attribute, tuples in asked.items():
            yield from self._put(quotes, attribute, tuples, account.name)
        return _quotes(quotes)

    def arrow(self, attribute: str, body: bytes, account: Account) -> Parts[bytes]:
        """Quotes at all levels for tuples in Arrow's IPC stream."""
        tuples = read_tuples(body, self._most)
        check_batch(tuples.num_rows, self._most)
        self._limit.take(account, tuples.num_rows, len(body))
        columns = dict(zip(tuples.column_names, tuples.columns, strict=True))
        self._needed.check(attribute, columns.keys())
        prices = yield from self.ladders(attribute, columns, tuples.num_rows, account.name)
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

    def ladders(self, attribute: str, columns: Mapping[str, Any], rows: int, buyer: str) -> Parts[Prices]:
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

    def _add(self, asked: dict[str, _AskedTuples], place: int, request: QuoteRequest) -> None:
        """Put a request to the others of its attribute. Nothing of it is kept but its texts: many are soon garbage."""
        attribute = request.attribute
        tuples = asked.get(attribute)
        if tuples is None:
            offer = self._offers.get(attribute)
            columns = () if offer is None else offer.columns
            tuples = asked[attribute] = _AskedTuples(columns, -1 if offer is None else offer.hierarchy.height)
        level = request.level
        if (level or 0) > tuples.height or not self._needed.are(attribute, request.tuple.keys()):
            tuples.wrong = tuples.wrong or request
            return
        tuples.places.append(place)
        tuples.levels.append(-1 if level is None else level)
        given = request.tuple
        for column, texts in tuples.columns.items():
            texts.append(given[column])

    def _put(self, quotes: list[bytes], attribute: str, asked: _AskedTuples, buyer: str) -> Parts[None]:
        """The quotes of requests for one attribute; one that is none is asked alone, to say what is wrong with it."""
        if asked.wrong is not None:
            self._at_level(asked.wrong, asked.wrong.level or 0, buyer)  # raises
        prices = yield from self.ladders(attribute, asked.columns, len(asked.places), buyer)
        levels = np.array(asked.levels)[:, None]
        self._note(prices[(levels < 0) | (levels == np.arange(asked.height + 1))], buyer)
        write = self._quotes
        for at in range(0, len(prices), WRITTEN):
            if at:
                yield
            places, chosen = asked.places[at : at + WRITTEN], asked.levels[at : at + WRITTEN]
            for place, level, ladder in zip(places, chosen, prices[at : at + WRITTEN].tolist(), strict=True):
                quotes[place] = write.ladder(ladder) if level < 0 else write.price(ladder[level])

    def _note(self, prices: np.ndarray[Any, np.dtype[np.int64]], buyer: str) -> None:
        refusals = int((prices < 0).sum())
        self._metrics.quoted(prices.size - refusals, refusals)
        if refusals and self._watch is not None:
            for refused, count in zip(*np.unique(prices[prices < 0], return_counts=True), strict=True):
                self._watch.refused(buyer, REASON_OF[int(refused)].value, int(count))


def _quotes(quotes: Iterable[bytes]) -> bytes:
    return b'{"quotes":[%b]}' % b",".join(quotes)
