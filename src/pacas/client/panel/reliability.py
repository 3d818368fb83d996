"""How often each source is right about an attribute, learnt from where sources agree and where they do not.

Expectation and maximization in turn: what each class's value is, given how reliable its sources are; and how often each
source named a node that this value lies below. Values of a class that no opinion tells apart are taken together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pacas.client.panel.belief import Opinion
from pacas.client.panel.ground_values import OWN, SHOWN
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

OF_PROVIDERS, OF_OWN = (9.0, 1.0), (4.0, 1.0)
"""Right and wrong answers that a provider, or the client's own table, is given credit for before any is known."""

LEAST, MOST = 0.02, 0.998
"""Nobody is taken to be always wrong, or always right."""

TURNS, SETTLED = 60, 1e-5


class Reliabilities:
    """Of the sources of one attribute: the client's own table, and providers."""

    def __init__(self, providers: Iterable[str]) -> None:
        self._counts: dict[str | None, tuple[float, float]]
        self._counts = {OWN: OF_OWN, SHOWN: OF_OWN, **dict.fromkeys(providers, OF_PROVIDERS)}
        self._rate = {source: right / (right + wrong) for source, (right, wrong) in self._counts.items()}

    def join(self, provider: str) -> None:
        """One more, of whom nothing is known."""
        self._counts[provider] = OF_PROVIDERS
        self._rate[provider] = OF_PROVIDERS[0] / sum(OF_PROVIDERS)

    def __getitem__(self, source: str | None) -> float:
        return self._rate[source]

    def of(self, opinions: Sequence[Opinion]) -> list[float]:
        return [self._rate[opinion.source] for opinion in opinions]

    def as_dict(self) -> Mapping[str | None, float]:
        """Of providers, and of the client's own majority."""
        return {source: rate for source, rate in self._rate.items() if source != SHOWN}

    def learn(self, classes: Sequence[Sequence[Opinion]]) -> None:
        """From the opinions about each class that more than the client's own majority was heard about."""
        if not classes:
            return
        found = _Atoms(classes, list(self._rate))
        rates = np.array(list(self._rate.values()))
        credit = np.array(list(self._counts.values()))
        for _ in range(TURNS):
            right, heard = found.counts(rates)
            new = np.clip((right + credit[:, 0]) / (heard + credit.sum(axis=1)), LEAST, MOST)
            settled, rates = np.abs(new - rates).max() < SETTLED, new
            if settled:
                break
        self._rate = dict(zip(self._rate, rates.tolist(), strict=True))


class _Atoms:
    """All classes' values, those together that are inside the same opinions."""

    def __init__(self, classes: Sequence[Sequence[Opinion]], sources: Sequence[str | None]) -> None:
        most = max(map(len, classes))
        self._sources = len(sources)
        number = {source: n for n, source in enumerate(sources)}
        self._source: Ints = np.full((len(classes), most), -1, dtype=np.int64)
        self._others = np.ones((len(classes), most))
        members, counts, sizes = [], [], []
        for c, opinions in enumerate(classes):
            for k, opinion in enumerate(opinions):
                if opinion.nodes > 1:  # what names the root says nothing
                    self._source[c, k], self._others[c, k] = number[opinion.source], opinion.nodes - 1
            inside = np.stack([opinion.inside for opinion in opinions])
            count = np.bincount((1 << np.arange(len(opinions))) @ inside, minlength=1)
            keys = np.flatnonzero(count)
            members.append((keys[:, None] >> np.arange(most)[None, :]) & 1)
            counts.append(count[keys])
            sizes.append(len(keys))
        self._member = np.concatenate(members).astype(np.bool_)
        self._log_count = np.log(np.concatenate(counts))
        self._of = np.repeat(np.arange(len(classes)), sizes)
        self._first = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def counts(self, rates: Floats) -> tuple[Floats, Floats]:
        """Per source: how many of its opinions are expected to be right, and how many there are."""
        there = self._source >= 0
        rate = rates[np.maximum(self._source, 0)]
        inside = np.where(there, np.log(rate), 0.0)[self._of]
        outside = np.where(there, np.log((1 - rate) / self._others), 0.0)[self._of]
        logs = np.where(self._member, inside, outside).sum(axis=1) + self._log_count
        weight = np.exp(logs - np.maximum.reduceat(logs, self._first)[self._of])
        weight /= np.add.reduceat(weight, self._first)[self._of]
        hit = np.add.reduceat(weight[:, None] * self._member, self._first, axis=0)
        right = np.bincount(self._source[there], weights=hit[there], minlength=self._sources)
        heard = np.bincount(self._source[there], minlength=self._sources)
        return right.astype(np.float64), heard.astype(np.float64)
