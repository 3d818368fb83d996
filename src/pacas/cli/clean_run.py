"""Running a cleaning: watched in the terminal, with a journal beside the output, or dry."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pacas.cli.clean_job import Job
from pacas.client.check import Progress as Tell
from pacas.client.cleaning import Cleaning, Observer, Order, Progress, Purchase, Unrepaired
from pacas.client.dry_run import dry_run
from pacas.core.money import credits_text
from pacas.engine.contract import Engine
from pacas.errors import PacasError
from pacas.formats.cleaned import write_cleaned
from pacas.formats.journal import Journal
from pacas.formats.journal_parts import run_parts
from pacas.protocol.marketplace import Marketplace

SECONDS = 0.1
"""How often the terminal is told of the progress."""


def run_dry(job: Job, marketplace: Marketplace, engine: Engine[Any], tell: Tell) -> Cleaning:
    """Nothing is paid, and nothing is written."""
    return dry_run(job.cleaner, job.table, marketplace, Watched(Observer(), tell), engine)


def run_clean(
    job: Job, marketplace: Marketplace, buyer: str, resume: bool, engine: Engine[Any], tell: Tell
) -> tuple[Cleaning, bool]:
    """Clean, write the output, and close the journal. The second is whether all that had been done before."""
    parts = run_parts(job.file, job.cleaner, job.choices, marketplace.catalogue(), buyer)
    journal = Journal(job.journal, parts, resume=resume)
    with _never_losing(journal):
        watched = Watched(journal, tell)
        cleaning = job.cleaner.clean(job.table, marketplace, run=journal.run, observer=watched, engine=engine)
        tell(f"writing {job.output.name}")
        write_cleaned(cleaning, job.file, job.output)
        journal.finish(len(cleaning.purchases), cleaning.spent_nanocredits)
    return cleaning, journal.is_done


@contextmanager
def _never_losing(journal: Journal) -> Iterator[None]:
    """Say how to go on after a fault, if anything may have been paid; if not, leave no journal behind."""
    try:
        yield
    except BaseException as error:
        journal.close()
        if not journal.ordered:
            journal.discard()
            raise
        match error:
            case PacasError():
                raise PacasError(f"{error}; {_kept(journal.path)}") from None
            case OSError():
                refused = error.strerror or type(error).__name__
                raise PacasError(f"the system refused: {refused}; {_kept(journal.path)}") from None
        raise


@contextmanager
def continuable(journal: Path) -> Iterator[None]:
    """Say how to go on after Ctrl-C, once the progress is off the terminal."""
    try:
        yield
    except KeyboardInterrupt:
        if journal.exists():
            print(f"pacas: {_kept(journal)}", file=sys.stderr)
        raise


def _kept(journal: Path) -> str:
    return f"what was bought is in {journal}: continue with --resume"


class Watched(Observer):
    """Passes everything on to another observer, and shows how far the cleaning has come."""

    def __init__(self, observer: Observer, tell: Tell) -> None:
        self._observer, self._tell = observer, tell
        self._next = 0.0

    def recall(self, step: int) -> Purchase | Unrepaired | Order | None:
        return self._observer.recall(step)

    def ordering(self, order: Order) -> None:
        self._observer.ordering(order)

    def settled(self, step: int, outcome: Purchase | Unrepaired) -> None:
        self._observer.settled(step, outcome)

    def progressed(self, progress: Progress) -> None:
        self._observer.progressed(progress)
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS
            self._tell(described(progress))


def described(progress: Progress) -> str:
    """How far a cleaning has come, in a line."""
    rounds = f"round {progress.round}: " if progress.round > 1 else ""
    return (
        f"{rounds}{progress.done:,} of {progress.classes:,} classes, {credits_text(progress.spent)} credits spent, "
        f"{progress.violations:,} violations left"
    )
