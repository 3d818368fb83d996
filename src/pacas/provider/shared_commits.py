"""Sales of several threads that share a commit: who comes while another commits is served with all who wait by then.

To make a sale durable takes far longer than to judge it, and for many sales not much longer than for one. Nobody waits
for others to come: one alone is served at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from pacas.errors import StorageError
from pacas.protocol.messages import Refusal, Request
from pacas.provider.ledger.entry import Entry

MOST = 64
"""Sales that share a commit: other processes wait meanwhile."""

Credit = int | None | Callable[[], int | None]
"""What a buyer may spend in all, in nanocredits; None is as much as it likes."""


@dataclass(eq=False, slots=True)
class SaleOrder:
    """A request to pay for, and what came of it."""

    request: Request
    ceiling: int
    key: str
    buyer: str
    credit: Credit
    outcome: Entry | Refusal | BaseException | None = field(default=None, repr=False)

    def result(self) -> Entry | Refusal:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        assert self.outcome is not None
        return self.outcome


class SharedCommits:
    """Orders that wait, and whoever's turn it is to serve them."""

    def __init__(self, serve: Callable[[Sequence[SaleOrder]], None]) -> None:
        self._serve = serve
        self._waiting: deque[SaleOrder] = deque()
        self.turn = Lock()
        """Held by who serves, until what it has sold is durable or undone."""

    def make(self, order: SaleOrder) -> Entry | Refusal:
        """Have an order served, by this thread or by one whose turn came before."""
        self._waiting.append(order)
        try:
            with self.turn:
                while order.outcome is None:
                    self._serve_some([self._waiting.popleft() for _ in range(min(len(self._waiting), MOST))])
        except BaseException:
            with suppress(ValueError):
                self._waiting.remove(order)
            raise
        return order.result()

    def _serve_some(self, orders: Sequence[SaleOrder]) -> None:
        """What fails, fails for all who were served together: nothing of it was sold."""
        try:
            self._serve(orders)
        except BaseException as error:
            shared = error if isinstance(error, Exception) else StorageError("the sale was interrupted; try again")
            for order in orders:
                order.outcome = shared
            if not isinstance(error, Exception):
                raise
