"""Providers that know a part of the truth: some of the keys, a share of them wrongly, at a share of the price.

What a provider knows of a key follows from its seed and the key alone, whatever is asked first. All else is that of
the provider behind it, which knows everything: what is sold there is what is sold here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from pacas.protocol.marketplace import Columns, Forwarding, Marketplace
from pacas.protocol.messages import Answer, Ladders, Quote, Reason, Refusal, Request, refused

COVERAGE, WRONG, CHEAPER = 0.6, 0.15, 0.7
"""Each of three knows so much; the third says so much of it wrongly, at so much of the price."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of the truth a provider has."""

    seed: str
    coverage: float = COVERAGE
    wrong: float = 0.0
    price: float = 1.0

    def draw(self, what: str, attribute: str, key: tuple[str | None, ...]) -> float:
        """A number from 0 to 1 that is this key's."""
        text = repr((self.seed, what, attribute, key)).encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:7], "big") / 2**56

    def knows(self, attribute: str, key: tuple[str | None, ...]) -> bool:
        return self.draw("knows", attribute, key) < self.coverage

    def asks(self, price: int) -> int:
        return int(price * round(self.price * 100)) // 100


class PartialSeller(Forwarding):
    """Sells a part of what the marketplace behind it does."""

    def __init__(self, marketplace: Marketplace, part: Part) -> None:
        super().__init__(marketplace)
        self._part, self._offers = part, marketplace.catalogue()

    @property
    def most_at_once(self) -> int:
        return 1

    def quote(self, request: Request) -> Quote | Refusal:
        if not self._part.knows(request.attribute, self._key(request)):
            return Refusal(Reason.NO_MATCH)
        quoted = super().quote(request)
        return Quote(self._part.asks(quoted.price)) if isinstance(quoted, Quote) else quoted

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        ladders = super().quote_batch(attribute, tuples).prices
        part, names = self._part, self._offers[attribute].columns
        keys = zip(*(list(map(_text, tuples[name])) for name in names), strict=True)
        known = np.array([part.knows(attribute, key) for key in keys], dtype=np.bool_)
        asked = np.where(ladders >= 0, ladders * round(part.price * 100) // 100, ladders)
        return Ladders(np.where(known[:, None], asked, refused(Reason.NO_MATCH)).astype(np.int64))

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        quoted = super().quote(request)
        if isinstance(quoted, Refusal) or not self._part.knows(request.attribute, self._key(request)):
            return quoted if isinstance(quoted, Refusal) else Refusal(Reason.NO_MATCH)
        if self._part.asks(quoted.price) > ceiling:
            return Refusal(Reason.CEILING)
        answer = super().pay(request, quoted.price, key)
        if isinstance(answer, Refusal):
            return answer
        return Answer(self._said(request, answer.value), answer.level, self._part.asks(answer.price))

    def _said(self, request: Request, value: str) -> str:
        """What is answered: the truth, or another value of the same level."""
        key, tree = self._key(request), self._offers[request.attribute].hierarchy
        if self._part.draw("wrong", request.attribute, key) >= self._part.wrong:
            return value
        others = [label for label in dict.fromkeys(tree.at_level(request.level)) if label != value]
        at = int(self._part.draw("said", request.attribute, key) * len(others))
        return others[at] if others else value

    def _key(self, request: Request) -> tuple[str | None, ...]:
        return tuple(request.tuple[name] for name in self._offers[request.attribute].columns)


def _text(value: object) -> str | None:
    """A cell of a column of any kind, as a request has it."""
    found = value.as_py() if hasattr(value, "as_py") else value
    return None if found is None else str(found)
