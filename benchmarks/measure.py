"""Timing in one run: the candidates take turns, so that a noisy moment hits them all."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def seconds(run: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def processor_seconds(run: Callable[[], object]) -> float:
    """How much processor time one call takes, of all threads together: what else runs on the machine hardly shows."""
    start = time.process_time()
    run()
    return time.process_time() - start


def medians(candidates: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Median seconds of each candidate, after one round to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeats + 1):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def peak_memory(code: str, *arguments: str) -> int:
    """The most memory in bytes that a fresh process running `code` has held (its own: ru_maxrss starts at ours)."""
    report = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", code + report, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) * 1024


class BareCommits:
    """A SQLite file of one table; a call inserts one row and commits, synced as the ledger is."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, details TEXT)")

    def __enter__(self) -> Callable[[], None]:
        return self._commit

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _commit(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO t (details) VALUES (?)", ("x" * 400,))
        self._connection.execute("COMMIT")


def machine() -> str:
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        model = next(
            (line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line), model
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
