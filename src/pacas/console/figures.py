"""What takes longer than a page may: the audit, the linter, the meter. Made beside the service, kept until renewed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from structlog.typing import FilteringBoundLogger

from pacas.errors import PacasError
from pacas.provider.audit import Audit, audit
from pacas.provider.ledger.chain import Verification
from pacas.provider.lint.finding import ProviderFinding
from pacas.provider.provider import Provider
from pacas.server.monitoring.logs import place

QUICK = 2.0
"""Seconds up to which figures are renewed without being asked, when a page that shows them is looked at."""


class OwnFindings(NamedTuple):
    """What the linter has found, and what the meter says of free quotes, in one line."""

    findings: Sequence[ProviderFinding]
    leak: str | None


Look = Callable[[], OwnFindings]
"""Asks the linter and the meter again."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class Figures:
    """An audit and what was found, as of an entry of the ledger and a moment."""

    audit: Audit
    found: OwnFindings
    time: float
    took: float

    @property
    def entries(self) -> int:
        return self.audit.ledger.head.entries


class Verified(NamedTuple):
    """When the ledger was last verified, and what came of it."""

    time: float
    found: Verification


class FiguresMaker:
    """Makes figures in a thread of its own, one at a time."""

    def __init__(
        self, provider: Provider, look: Look, found: OwnFindings | None, log: FilteringBoundLogger, clock: Clock
    ) -> None:
        self._provider, self._look, self._found, self._log, self._clock = provider, look, found, log, clock
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="pacas-console")
        self._lock = Lock()
        self._running: Future[None] | None = None
        self.figures: Figures | None = None
        self.problem: str | None = None
        """Why the last figures could not be made."""
        self.verified: Verified | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    def current(self, seconds: float) -> Figures | None:
        """What there is; where that is old and quickly made, or there is none, new ones are on the way.

        They are waited for, but not for long. The store is asked: this is nothing for the event loop.
        """
        figures = self.figures
        if figures is None:
            if self.problem is None:
                self.renew()
        elif figures.took < QUICK and figures.entries != self._provider.ledger.head().entries:
            self.renew()
        self.wait(seconds)
        return self.figures

    def renew(self) -> None:
        """Begin to make them anew, unless somebody has."""
        with self._lock:
            if not self.is_running:
                self._running = self._pool.submit(self._make)

    def wait(self, seconds: float) -> None:
        """Wait for what is on the way, but not for long."""
        running = self._running
        if running is not None:
            try:
                running.result(seconds)
            except TimeoutError:
                return

    def verify(self) -> Verified:
        """Verify the ledger now."""
        self.verified = Verified(self._clock(), self._provider.ledger.verify())
        return self.verified

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _make(self) -> None:
        begun = self._clock()
        try:
            found = self._look() if self._found is None else self._found
            self._found = None  # what was found at the start counts once
            made = audit(self._provider)
        except PacasError as error:
            self.problem = str(error)
            return
        except Exception as error:  # its message may quote what nobody should read
            self._log.error("failed", task="audit", error=type(error).__name__, place=place(error))
            self.problem = "an error inside the service; its log says where"
            return
        now = self._clock()
        self.problem, self.figures = None, Figures(made, found, now, now - begun)
        self.verified = Verified(now, made.ledger)
