"""What a provider's operator can watch, as Prometheus reads it. No label names an account or holds a value."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from pacas.core.money import CREDIT

MEDIA_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class _Sold:
    """What the ledger's purchases cost, as it was when somebody last looked."""

    spent = 0

    def collect(self) -> Iterable[Metric]:
        what = "What all purchases in the ledger cost, in credits: the same from every process that sells from it."
        yield CounterMetricFamily("pacas_credits_sold", what, self.spent / CREDIT)


class Metrics:
    """The counts of one service, since it was started; what was sold is the ledger's to say."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "pacas_requests", "Calls, by path and status.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "pacas_request_seconds", "How long calls took.", ("route",), buckets=SECONDS, registry=self._registry
        )
        self._quotes = Counter("pacas_quotes", "Quotes given: a tuple at a level.", registry=self._registry)
        self._refusals = Counter(
            "pacas_refusals", "Refusals, of quotes and of purchases.", ("of",), registry=self._registry
        )
        self._purchases = Counter("pacas_purchases", "Purchases answered, retries included.", registry=self._registry)
        self._sold = _Sold()
        self._registry.register(self._sold)
        self._request = cache(self._requests.labels)
        self._took = cache(self._seconds.labels)
        self._refused_quotes, self._refused_purchases = map(self._refusals.labels, ("quote", "purchase"))

    def called(self, method: str, route: str, status: int, seconds: float) -> None:
        """A call was answered; `route` is its path with its parameters left open."""
        self._request(method, route, status).inc()
        self._took(route).observe(seconds)

    def quoted(self, prices: int, refusals: int) -> None:
        self._quotes.inc(prices)
        if refusals:
            self._refused_quotes.inc(refusals)

    def sold(self) -> None:
        """A purchase was answered."""
        self._purchases.inc()

    def refused_to_sell(self) -> None:
        self._refused_purchases.inc()

    def text(self, spent: int) -> bytes:
        """All metrics as Prometheus reads them; `spent` is what the ledger's purchases cost, in nanocredits."""
        self._sold.spent = spent
        return generate_latest(self._registry)
