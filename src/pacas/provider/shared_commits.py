"""Sales that share a commit: those of one run, and of several threads: who comes while another commits is served with
all who wait by then.

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
from pacas.protocol.messages import Payment, Refusal
from pacas.provider.ledger.entry import Entry

MOST = 64
"""Sales that share a commit: other processes wait meanwhile."""

Credit = int | None | Callable[[], int | None]
"""What a buyer may spend in all, in nanocredits; None is as much as it likes."""


@dataclass(frozen=True, slots=True)
class SaleOrder:
    """A payment, who makes it, and what that buyer may spend."""

    payment: Payment
    buyer: str
    credit: Credit


def is_surprise(payment: Payment, sold: Entry | Refusal) -> bool:
    """Whether something else came of a payment than was planned: nothing, or at another price."""
    return isinstance(sold, Refusal) or sold.purchase.price != payment.ceiling


@dataclass(eq=False, slots=True)
class SaleRun:
    """Orders to serve one after the other up to the first surprise, and what came of them."""

    orders: Sequence[SaleOrder]
    outcome: list[Entry | Refusal] | BaseException | None = field(default=None, repr=False)

    def result(self) -> list[Entry | Refusal]:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        assert self.outcome is not None
        return self.outcome


class SharedCommits:
    """Runs that wait, and whoever's turn it is to serve them."""

    def __init__(self, serve: Callable[[Sequence[SaleRun]], None]) -> None:
        self._serve = serve
        self._waiting: deque[SaleRun] = deque()
        self.turn = Lock()
        """Held by who serves, until what it has sold is durable or undone."""

    def make(self, run: SaleRun) -> list[Entry | Refusal]:
        """Have a run served, by this thread or by one whose turn came before."""
        self._waiting.append(run)
        try:
            with self.turn:
                while run.outcome is None:
                    self._serve_some(self._next())
        except BaseException:
            with suppress(ValueError):
                self._waiting.remove(run)
            raise
        return run.result()

    def _next(self) -> list[SaleRun]:
        """Those that wait, as many as may share a commit."""
        runs = [self._waiting.popleft()]
        orders = len(runs[0].orders)
        while self._waiting and (orders := orders + len(self._waiting[0].orders)) <= MOST:
            runs.append(self._waiting.popleft())
        return runs

    def _serve_some(self, runs: Sequence[SaleRun]) -> None:
        """What fails, fails for all who were served together: nothing of it was sold."""
        try:
            self._serve(runs)
        except BaseException as error:
            shared = error if isinstance(error, Exception) else StorageError("the sale was interrupted; try again")
            for run in runs:
                run.outcome = shared
            if not isinstance(error, Exception):
                raise
