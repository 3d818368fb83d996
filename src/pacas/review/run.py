"""The run of a review: a cleaning in a thread of its own, on the journal that `pacas clean` has, too.

It goes as far as approvals let it. What it has done is in the journal: ended at any moment, it is continued from there,
by another review or by `pacas clean --resume`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Thread
from types import MappingProxyType
from typing import NamedTuple

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import edited
from pacas.client.outcome.steps import BoughtValue, Observer, Order, PlannedStep, Progress, Relaying, Unrepaired
from pacas.core.histogram import Ints
from pacas.errors import FileError, PacasError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.formats.relations.cleaned import write_cleaned
from pacas.protocol.messages import Offer
from pacas.review.approvals import Approvals, Stopped
from pacas.review.job import ReviewJob

STARTING, RUNNING, WAITING, WRITING, DONE, FAILED, STOPPED = (
    "starting",
    "running",
    "waiting",
    "writing",
    "done",
    "failed",
    "stopped",
)
IDLE = (WAITING, DONE, FAILED, STOPPED)
"""When nothing happens until somebody does something."""


class Recalled(NamedTuple):
    """How far a run has come: what became of its steps, and the quotes that it decided by."""

    outcomes: tuple[BoughtValue | Unrepaired, ...]
    quotes: tuple[Ints, ...]
    joined: Mapping[str, bool] = MappingProxyType({})
    """Of those of several that were away at first and have been called: who was there."""

    @property
    def spent(self) -> int:
        return sum(outcome.price for outcome in self.outcomes)

    @property
    def purchases(self) -> list[BoughtValue]:
        return [outcome for outcome in self.outcomes if isinstance(outcome, BoughtValue)]


class Run:
    """One run. A review begins another one when its budget is changed, or when this one has failed."""

    def __init__(self, job: ReviewJob, changed: Callable[[], None], *, anew: bool = False) -> None:
        """Open the journal: the run that it is of goes on. `anew` says that one which was done is left behind."""
        self.job = job
        self._state = STARTING
        self.error: str | None = None
        self.progress: Progress | None = None
        self.final: Cleaning | None = None
        """What came of it, without edits, once it is done."""
        self.pays: Order | None = None
        """The order that is being paid now."""
        self._tell = changed
        self._written: int | None = None
        self._outcomes: list[BoughtValue | Unrepaired] = []
        self._quotes: list[Ints] = []
        self._joined: dict[str, bool] = {}
        self.journal = _journal(job, anew)
        self.approvals = Approvals(self.journal, changed)
        self._thread = Thread(target=self._work, name="review run", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, write: bool = False) -> None:
        """Come to an end; a payment that was begun is finished. With `write`, the output gets what edits it lacks."""
        self._end()
        if write and self.state == DONE and not self.is_written:
            self.write()
        if self.journal.ordered or self._outcomes:
            self.journal.close()
        else:
            self.journal.discard()

    def abandon(self) -> bool:
        """Come to an end and leave nothing behind; False if something was paid, which stays in the journal."""
        self._end()
        if self.has_paid:
            self.journal.close()
            return False
        self.journal.discard()
        return True

    def _end(self) -> None:
        self.approvals.close()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def state(self) -> str:
        return WAITING if self._state == RUNNING and self.approvals.waiting is not None else self._state

    @property
    def recalled(self) -> Recalled:
        return Recalled(tuple(self._outcomes), tuple(self._quotes), dict(self._joined))

    @property
    def has_paid(self) -> bool:
        """Whether anything may have been paid in it, now or before it was taken up: its budget is what it is then."""
        return self.journal.may_have_paid

    @property
    def is_written(self) -> bool:
        """Whether the output holds all edits."""
        return self._written == len(self.journal.edits)

    def write(self) -> None:
        """Write the output, with the edits that there are."""
        if self.final is None:
            raise PacasError("the run has not come to its end; the output is written then")
        edits = self.journal.edits
        write_cleaned(edited(self.final, edits), self.job.output)
        self._written = len(edits)

    # ---- in its thread ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        job = self.job
        try:
            cleaning = job.cleaner.clean(
                job.source,
                job.markets,
                run=self.journal.run,
                observer=_Watching(self),
                engine=job.engine,
                away=job.late,
            )
            self._is(WRITING)
            self.final = cleaning
            if not self.journal.is_done or self.journal.edits or not job.output.exists():
                self.write()
            self._written = len(self.journal.edits)
            self.journal.end(len(cleaning.purchases), cleaning.spent_nanocredits)
            self._is(DONE)
        except Stopped:
            self._is(STOPPED)
        except PacasError as error:
            self._fail(str(error))
        except OSError as error:
            self._fail(f"the system refused: {error.strerror or type(error).__name__}")
        except Exception as error:  # a fault of ours: the page says so, and the journal keeps what was bought
            self._fail(f"an unexpected fault ({type(error).__name__}); what was bought is in the journal")

    def _fail(self, error: str) -> None:
        self.error = error
        self._is(FAILED)

    def _is(self, state: str) -> None:
        self._state = state
        self._tell()


class _Watching(Relaying):
    """Keeps what a run has done for all to see, and has its orders approved."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.journal)
        self._run = run

    @property
    def asks_ahead(self) -> bool:
        return False

    def recall(self, step: int) -> BoughtValue | Unrepaired | Order | None:
        recalled = super().recall(step)
        known = self._run._outcomes
        if isinstance(recalled, Order):
            self._run.pays = recalled
        elif recalled is not None and step == len(known):
            known.append(recalled)
        return recalled

    def approve(self, order: Order, rows: Ints) -> Order | str:
        self._run._state = RUNNING
        known = super().approve(order, rows)
        answer = known if isinstance(known, str) else self._run.approvals.ask(known, rows)
        return answer if isinstance(answer, str) else super().approve(answer, rows)  # rejected a moment ago, maybe

    def ordering(self, *steps: PlannedStep) -> None:
        self._run.pays = next(step for step in steps if isinstance(step, Order))
        super().ordering(*steps)

    def settled(self, step: int, outcome: BoughtValue | Unrepaired) -> None:
        super().settled(step, outcome)
        self._run.pays = None
        self._run._outcomes.append(outcome)

    def recall_quotes(self, number: int) -> Ints | None:
        recalled = super().recall_quotes(number)
        if recalled is not None and number == len(self._run._quotes):
            self._run._quotes.append(recalled)
        return recalled

    def quoted(self, number: int, prices: Ints) -> None:
        super().quoted(number, prices)
        self._run._quotes.append(prices)

    def recall_joined(self, provider: str) -> bool | None:
        recalled = super().recall_joined(provider)
        self._run._joined |= {} if recalled is None else {provider: recalled}
        return recalled

    def joined(self, provider: str, offers: Mapping[str, Offer] | None) -> None:
        super().joined(provider, offers)
        self._run._joined[provider] = offers is not None

    def progressed(self, progress: Progress) -> None:
        self._run.progress = progress
        self._run._is(RUNNING)


class Replay(Observer):
    """A run up to where another one has come, and from there on as it is told."""

    def __init__(
        self, recalled: Recalled, otherwise: Callable[[Order, Ints], str | None] = lambda order, rows: None
    ) -> None:
        """`otherwise` says why an order is not bought; all others are."""
        self._recalled, self._otherwise = recalled, otherwise
        self.orders: list[tuple[Order, Ints]] = []
        """What it would order, and the cells that each is about."""

    def recall(self, step: int) -> BoughtValue | Unrepaired | None:
        known = self._recalled.outcomes
        return known[step] if step < len(known) else None

    def recall_quotes(self, number: int) -> Ints | None:
        known = self._recalled.quotes
        return known[number] if number < len(known) else None

    def recall_joined(self, provider: str) -> bool:
        """Who has not been called by then is not called for this."""
        return self._recalled.joined.get(provider, False)

    def approve(self, order: Order, rows: Ints) -> Order | str:
        reason = self._otherwise(order, rows)
        if reason is not None:
            return reason
        self.orders.append((order, rows))
        return order


def _journal(job: ReviewJob, anew: bool) -> Journal:
    """The journal beside the output: one that is there goes on, unless it was done and another is wanted."""
    parts = job.parts(job.cleaner)
    recorded = recorded_run(job.journal)
    if recorded is None:
        return Journal(job.journal, parts, catalogues=job.published, accounts=job.accounts)
    if anew and not recorded.is_done:
        raise FileError(
            f"{job.journal} is of a run that is not done; end it first (review it, and buy no more), or remove it"
        )
    other = recorded.header.other_than(parts)
    if recorded.is_done and other and not anew:
        differ = f"{', '.join(other)} {'differs' if len(other) == 1 else 'differ'}"
        raise FileError(
            f"{job.journal} is of another run, which is done: {differ}; begin a new one with --new, in which what was "
            "bought costs nothing again, or look at that one with what it was begun with"
        )
    return Journal(job.journal, parts, resume=not anew, catalogues=job.published, accounts=job.accounts)
