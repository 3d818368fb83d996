"""An evaluation, run: the settings that are missing from its results, several at a time, each kept as it comes in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

from pacas.experiments.runs.measuring import Measured, measure
from pacas.experiments.runs.results import Results
from pacas.experiments.runs.setting import Setting


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is."""

    done: int
    of: int
    setting: Setting
    """The run that has just ended."""
    seconds_left: float
    """As long as the runs so far took, on average, for each that is left."""


def run_missing(
    settings: Sequence[Setting],
    results: Results,
    data: Path | None,
    *,
    jobs: int = 1,
    progress: Callable[[EvaluationProgress], None] = lambda step: None,
) -> int:
    """Run the settings that have no results yet, and say how many these were. An error ends it; what is done stays."""
    missing = [setting for setting in settings if setting not in results]
    origin = {"version": version("pacas"), "commit": commit()}
    began = monotonic()
    for done, (setting, figures) in enumerate(_measured(missing, data, jobs), start=1):
        results.add(setting, figures | origin)
        left = (monotonic() - began) / done * (len(missing) - done)
        progress(EvaluationProgress(len(settings) - len(missing) + done, len(settings), setting, left))
    return len(missing)


def _measured(settings: Sequence[Setting], data: Path | None, jobs: int) -> Iterator[tuple[Setting, Measured]]:
    if jobs == 1 or len(settings) <= 1:
        yield from ((setting, measure(setting, data)) for setting in settings)
        return
    # Few are handed out ahead: runs on the same table follow each other, and each process keeps the last table.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        ahead = iter(settings)
        running: dict[Future[Measured], Setting] = {}
        try:
            while True:
                while len(running) < 2 * jobs and (setting := next(ahead, None)) is not None:
                    running[pool.submit(measure, setting, data)] = setting
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def commit() -> str | None:
    """The commit that is run, if it is run from a clone; with a `+` if something was changed since."""
    package = Path(__file__).parents[2]
    try:
        answers = [
            subprocess.run(["git", *words], cwd=package, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--", "."])
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return answers[0] + ("+" if answers[1] else "")
