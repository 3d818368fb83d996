"""Sales that share a commit: those of one run, and of several threads: who comes while another sells is served with all
who have come by then.

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


class _Party:
    """Runs that one thread waits for."""

    __slots__ = ("orders", "runs", "woken")

    def __init__(self, runs: Sequence[SaleRun]) -> None:
        self.runs, self.orders = runs, sum(len(run.orders) for run in runs)
        self.woken = Lock()
        """Let go when they were served, or when their thread is to serve all who wait by then."""
        self.woken.acquire()


Take = Callable[[], Sequence[SaleRun]]
"""Those that wait by now and may share the commit; nobody once it is full, or nobody waits."""


class SharedCommits:
    """Runs that wait, and whoever's turn it is to serve them: one thread, which wakes each of the others once."""

    def __init__(self, serve: Callable[[Take], None]) -> None:
        self._serve = serve
        self._waiting: deque[_Party] = deque()
        self._gate = Lock()
        self._server: _Party | None = None
        """Whose thread serves, or was woken to do so."""
        self.turn = Lock()
        """Held by who serves, until what it has sold is durable or undone."""

    def make(self, runs: Sequence[SaleRun]) -> None:
        """Have runs served, together, by this thread or by one whose turn came before."""
        party = _Party(runs)
        try:
            with self._gate:
                self._waiting.append(party)
                waits = self._server is not None
                self._server = self._server or party
            if waits:
                party.woken.acquire()
            if any(run.outcome is None for run in runs):
                self._serve_some()
        except BaseException:
            self._leave(party)
            raise

    def _serve_some(self) -> None:
        """What fails, fails for all who were served together: nothing of it was sold."""
        parties: list[_Party] = []
        try:
            with self.turn:
                self._serve(lambda: self._take(parties))
        except BaseException as error:
            shared = error if isinstance(error, Exception) else StorageError("the sale was interrupted; try again")
            if not parties:
                self._take(parties)
            for run in (run for party in parties for run in party.runs):
                run.outcome = shared
            if not isinstance(error, Exception):
                raise
        finally:
            with self._gate:
                self._hand_over()
            for party in parties:
                party.woken.release()

    def _take(self, parties: list[_Party]) -> Sequence[SaleRun]:
        """Those that wait, as many as may share a commit with those that were taken before."""
        orders, before = sum(party.orders for party in parties), len(parties)
        with self._gate:
            while self._waiting and (not parties or orders + self._waiting[0].orders <= MOST):
                parties.append(one := self._waiting.popleft())
                orders += one.orders
        return [run for party in parties[before:] for run in party.runs]

    def _hand_over(self) -> None:
        """Let whoever waits longest serve from now on; the gate is held."""
        self._server = self._waiting[0] if self._waiting else None
        if self._server is not None:
            self._server.woken.release()

    def _leave(self, party: _Party) -> None:
        """Wait no longer, as after an interrupt."""
        with self._gate:
            with suppress(ValueError):
                self._waiting.remove(party)
            if self._server is party:
                self._hand_over()
