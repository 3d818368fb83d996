"""What a review shows beyond what was done: the table as it would be now, the plan, and what other budgets would bring.

All of it comes from dry runs, in a thread of its own, whenever the run has come further and waits: nothing is paid for
it, and what it supposes is what the client believes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Condition, Thread

from pacas.client.buying.offers import all_hierarchies
from pacas.client.classes.check import Check, check_table
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import knee_of
from pacas.client.outcome.repairs import PAID
from pacas.client.outcome.steps import NOT_YET, Order
from pacas.core.histogram import Ints
from pacas.errors import PacasError
from pacas.review.job import ReviewJob
from pacas.review.marks import Marks
from pacas.review.run import DONE, IDLE, Recalled, Replay, Run
from pacas.review.written import Written

FULL = 10**15
"""A budget, in nanocredits, that buys all that is worth its price."""
SHARES = (0.0, 0.5, 0.25, 0.125, 0.75, 0.0625, 0.375)
"""Of what that costs: the budgets that are tried, in this order."""
LARGE = 100_000
"""Rows of a table about which so much is held that to look for garbage in it takes longer than a page."""
AGAIN = 5.0
"""Seconds after which what has failed is tried again."""


@dataclass(frozen=True, slots=True)
class PlannedPurchase:
    """An order that would come, the cells that it is about, and the δ that its answer is expected to remove."""

    order: Order
    rows: Ints
    worth: float | None


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What is known when a run has come so far."""

    run: Run
    steps: int
    now: Cleaning
    """With what is bought, and no more; without edits."""
    plan: Cleaning | None
    """With what would be bought; None at the end of a run."""
    orders: tuple[PlannedPurchase, ...]
    by_itself: Written
    """What is written now; without edits."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a budget would bring, by a dry run."""

    budget: int
    spent: int
    violations: int
    free: int
    """Cells written by own evidence."""
    paid: int
    """Cells written by what is bought."""
    purchases: int
    expected: float | None
    """The δ that is expected to be left, where the client weighs."""


class Curve:
    """What other budgets would bring, as far as it is known."""

    def __init__(self) -> None:
        self.points: dict[int, CurvePoint] = {}
        self.full: CurvePoint | None = None
        self._wanted: list[int] = []
        self._foreseen: Sequence[tuple[int, float]] = ()

    def ask(self, budget: int) -> None:
        """This one next."""
        if budget not in self.points and budget not in self._wanted:
            self._wanted.insert(0, budget)

    @property
    def is_whole(self) -> bool:
        return self.full is not None and not self._wanted

    def next(self) -> int | None:
        if self.full is None:
            return FULL
        return self._wanted[0] if self._wanted else None

    def add(self, asked: int, point: CurvePoint, cleaning: Cleaning) -> None:
        self.points[point.budget] = point
        if asked == FULL:
            self.full = point
            self._foreseen = () if cleaning.weighing is None else cleaning.weighing.promised
            for share in SHARES:
                budget = int(point.spent * share)
                if budget not in self.points and budget not in self._wanted:
                    self._wanted.append(budget)
        else:
            self._wanted.remove(asked)

    @property
    def ordered(self) -> list[CurvePoint]:
        return [self.points[budget] for budget in sorted(self.points)]

    @property
    def knee(self) -> int | None:
        """The money beyond which more of it brings less."""
        found = knee_of(self._foreseen or [(point.spent, float(point.violations)) for point in self.ordered])
        return None if found is None else found[0]


class Outlook:
    """A thread that keeps all this up to date."""

    def __init__(
        self,
        job: Callable[[], ReviewJob],
        run: Callable[[], Run],
        uncounted: Callable[[], Cleaning | None],
        changed: Callable[[], None],
    ) -> None:
        """`uncounted` is a cleaning with edits that somebody looks at, and whose violations nobody has counted yet."""
        self._job, self._run, self._uncounted, self._tell = job, run, uncounted, changed
        self._condition = Condition()
        self._closed = False
        self._wants_curve = False
        self.check: Check | None = None
        self.marks: Marks | None = None
        self.view: View | None = None
        self.curve = Curve()
        self.error: str | None = None
        self._thread = Thread(target=self._work, name="review outlook", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def want_curve(self, budget: int | None = None) -> None:
        """Somebody looks at what budgets would bring, maybe at this one."""
        with self._condition:
            self._wants_curve = True
            if budget is not None:
                self.curve.ask(budget)
            self._condition.notify_all()

    @property
    def is_current(self) -> bool:
        """Whether the view is of what the run has done by now."""
        view, run = self.view, self._run()
        return view is not None and view.run is run and view.steps == len(run.recalled.outcomes)

    # ---- in its thread ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while not self._closed:
            step = self._next()
            if step is None:
                with self._condition:
                    if self._next() is None and not self._closed:
                        self._condition.wait()
                continue
            try:
                step()
                self.error = None
            except PacasError as error:
                self._failed(str(error))
            except Exception as error:  # a fault of ours, or of a library: the page says so
                self._failed(f"an unexpected fault ({type(error).__name__}) while looking ahead")
            self._tell()

    def _failed(self, error: str) -> None:
        self.error = error
        self._tell()
        with self._condition:
            if not self._closed:
                self._condition.wait(AGAIN)

    def _next(self) -> Callable[[], None] | None:
        if self.check is None:
            return self._check
        run = self._run()
        if run.state in IDLE and not self.is_current:
            return self._look
        if self._uncounted() is not None:
            return self._count
        if self._wants_curve and not run.has_paid and self.curve.next() is not None and run.state in IDLE:
            return self._try_budget
        return None

    def _check(self) -> None:
        job = self._job()
        hierarchies = all_hierarchies(job.found.catalogue, job.cleaner.hierarchies, job.source)
        self.check = check_table(job.engine, job.table, job.cleaner.fds, hierarchies, lambda _: None)
        self.marks = Marks(self.check)

    def _look(self) -> None:
        job, run = self._job(), self._run()
        recalled = run.recalled
        if run.state == DONE and run.final is not None:
            self.view = View(run, len(recalled.outcomes), run.final, None, (), _looked_over(run.final))
            return
        now = _dry(job, Replay(recalled, lambda order, rows: NOT_YET))
        rest = _planning(run, recalled)
        plan = _dry(job, rest)
        self.view = View(run, len(recalled.outcomes), now, plan, tuple(_planned(rest, plan)), _looked_over(now))

    def _count(self) -> None:
        """Count what violations edits leave: a look at the whole table, for which no page waits."""
        cleaning = self._uncounted()
        if cleaning is not None:
            _ = cleaning.violations_after

    def _try_budget(self) -> None:
        asked = self.curve.next()
        if asked is None:
            return
        job, run = self._job(), self._run()
        cleaning = _dry(job.with_budget(asked), _planning(run, Recalled((), ())))
        weighing = cleaning.weighing
        written = sum(map(len, cleaning.changes.values()))
        paid = int(cleaning.repairs.by_kind[PAID])
        spent = cleaning.spent_nanocredits
        point = CurvePoint(
            spent if asked == FULL else asked,
            spent,
            cleaning.violations_after,
            written - min(paid, written),
            paid,
            len(cleaning.purchases),
            None if weighing is None or not weighing.expected else weighing.expected[-1][1],
        )
        self.curve.add(asked, point, cleaning)


def _looked_over(cleaning: Cleaning) -> Written:
    """What a cleaning has written, with all that takes long worked out here, where no page waits for it."""
    written = Written(cleaning)
    _ = written.cells, written.by_reason, cleaning.changes, cleaning.repairs.by_kind
    if cleaning.rows >= LARGE:
        # what is held now stays: else Python's collector goes through all of it again while some page is made
        gc.unfreeze()
        gc.collect()
        gc.freeze()
    return written


def _dry(job: ReviewJob, observer: Replay) -> Cleaning:
    return job.cleaner.clean(job.source, job.markets, observer=observer, engine=job.engine, dry_run=True, away=job.late)


def _planning(run: Run, recalled: Recalled) -> Replay:
    """All that is worth it, but for what somebody does not want."""
    return Replay(recalled, run.journal.declined)


def _planned(rest: Replay, plan: Cleaning) -> Iterator[PlannedPurchase]:
    """What a plan orders; a client that weighs has said what it expects of each."""
    promised = () if plan.weighing is None else plan.weighing.promised
    for order, rows in rest.orders:
        known = order.step + 1 < len(promised)
        worth = promised[order.step][1] - promised[order.step + 1][1] if known else None
        yield PlannedPurchase(order, rows, worth)
