"""Reviews of offices whose people share a job, in this process: what to review, and waiting for what it comes to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.csv as pa_csv
from interrupted_offices import Watched, dirty

import pacas
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.relations.relations import scan_relation
from pacas.review.job import ReviewJob, opened_once
from pacas.review.run import IDLE
from pacas.review.session import ReviewSession

PATIENCE = 120
"""Seconds until a test gives up waiting; nothing is measured."""


def review_job(
    folder: Path,
    shop: Any,
    *,
    fds: Sequence[str] = ("OFFICE -> JOB",),
    budget: float = 20,
    output: str = "offices.clean.csv",
    encoding: str | None = None,
    key: Sequence[str] = ("PERSON",),
    receipts: Mapping[str, str] | None = None,
    receipts_folder: Path | None = None,
    verify: Any = None,
    **choices: Any,
) -> ReviewJob:
    """The offices, dirty, in a file; and a provider of their people's jobs."""
    path = folder / "offices.csv"
    if not path.exists():
        pa_csv.write_csv(dirty(), path)
    engine = opened_once(DuckEngine(threads=1))
    source = scan_relation(path, encoding=encoding)
    cleaner = pacas.SafeClean(list(fds), budget, **choices)
    return ReviewJob(
        source=source,
        cleaner=cleaner,
        choices=cleaner.choices,
        output=folder / output,
        journal=folder / f"{output}.journal",
        key=key,
        engine=engine,
        digest=engine.digest(source),
        markets=shop,
        buyer="ann",
        receipts=lambda: {} if receipts is None else receipts,
        receipts_folder=receipts_folder,
        verify={} if verify is None else {None: verify},
        command="pacas review client.toml --provider provider.toml",
    )


@contextmanager
def reviewing(job: ReviewJob, **options: Any) -> Iterator[ReviewSession]:
    session = ReviewSession(job, **options)
    session.start()
    try:
        yield session
    finally:
        session.close()


def until(holds: Callable[[], Any]) -> Any:
    """Wait for something that another thread brings about."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)
    return found


def settled(session: ReviewSession) -> ReviewSession:
    """Wait until the run waits for somebody, or is done, and what is ahead of it is known."""
    until(lambda: session.run.state in IDLE and session.outlook.is_current and session.outlook.marks is not None)
    return session


def shop(name: str = "falling") -> Watched:
    return Watched(name)
