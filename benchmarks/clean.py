"""The client's figures: SafeClean from a CSV file to a repaired table, beside DuckDB reading it and grouping twice."""

from __future__ import annotations

import statistics
import tempfile
from contextlib import closing
from math import log
from pathlib import Path

import data
import duckdb
import measure

import pacas
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.protocol.marketplace import Marketplace
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.storage.sqlite.ledger import SqliteLedger

DIRTY = 0.05
"""Share of wrong values on each of two right-hand sides: together one tuple in ten."""
TOTAL = 100
K, LEVEL = 3, 2
FOUND_BY = {"drug": ("age", "status", "gender"), "condition": ("status", "timeframe")}
GROUPS = (100, 50)
"""Rows a group: fewer and larger classes, or about the 13,000 of the prototype."""
GROWTH = (10_000, 100_000, 1_000_000, 3_000_000)
INTRODUCTION = f"""
`pacas.SafeClean` in one process with its provider, which is built already: from a CSV file to the repaired table. The
paper's strategy quotes, buys and repairs every class, in runs of purchases that share a transaction; a client that
weighs looks at all columns, and buys little. Two dependencies, a tenth of the tuples wrong, 10 neighbours a
cell, k = {K} at level {LEVEL}, a budget that suffices. Beside it DuckDB reads the same file and groups it by both
left sides. The ledger in SQLite syncs each transaction to the disk; *commits* is what as many synced commits of one
small row as there are purchases take by themselves. Reading costs what it costs DuckDB; what bounds the ratio is the
number of classes, for each is quoted, bought and repaired: *a purchase* is our time beyond DuckDB's, shared out.
What bounds weighing is sorting: groups, pairs of groups and values, and witnesses among all columns.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 34_500 if small else 345_000
    lines = [
        "| table, rows a group, strategy, ledger | purchases | ours | DuckDB | a purchase | commits | ratio | target |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for per_group in GROUPS:
        lines += _beside_duckdb(folder, rows, per_group, 1 if small else 5)
    growth = [line for strategy in ("paper", "weigh") for line in (*_growth(folder, small, strategy), "")]
    return "\n".join(["## The client", "", INTRODUCTION, "", *lines, "", *growth, *_memory(folder, rows)])


def hierarchy(name: str) -> Hierarchy:
    """Families of three, nine and 27 above the values of a right-hand side."""
    values = range(data.VALUES[name])
    return Hierarchy.from_rows(
        [(f"{name}-{i}", f"{name} / {i // 3}", f"{name} // {i // 9}", f"{name} /// {i // 27}", "*") for i in values]
    )


def open_provider(path: Path, ledger: Ledger | None = None) -> Provider:
    return Provider(
        pacas.scan_relation(path),
        match={sold: ", ".join(f"{c} = {c}" for c in columns) for sold, columns in FOUND_BY.items()},
        policies=[Policy(columns, (sold,), {sold: LEVEL}, K) for sold, columns in FOUND_BY.items()],
        hierarchies={name: hierarchy(name) for name in data.VALUES},
        total=TOTAL,
        ledger=ledger,
        seed=7,
    )


def clean(path: Path, provider: Marketplace, strategy: str = "paper") -> pacas.Relation:
    return pacas.SafeClean(data.FDS, TOTAL, strategy=strategy).clean(pacas.scan_relation(path), provider).relation


RUNS = {("paper", "memory"): "≤ 3", ("paper", "SQLite"): "≤ 3.5; ≤ 3 at 100", ("weigh", "memory"): "≤ 4"}
"""Strategies and ledgers, and the ratio that is aimed at."""


def _beside_duckdb(folder: Path, rows: int, per_group: int, repeats: int) -> list[str]:
    truth, dirty = _files(folder, rows, 29, per_group)
    duck: list[float] = []
    ours: dict[tuple[str, str], list[float]] = {run: [] for run in RUNS}
    purchases: dict[tuple[str, str], int] = {}
    for turn in range(repeats + 1):
        for (strategy, kind), taken in ours.items():
            with tempfile.TemporaryDirectory(dir=folder) as place:
                ledger = SqliteLedger(Path(place) / "ledger.db") if kind == "SQLite" else None
                provider = open_provider(truth, ledger)
                with closing(provider.ledger):
                    beside = measure.seconds(lambda: _read_and_group(dirty))
                    seconds = measure.seconds(lambda: clean(dirty, provider, strategy))  # noqa: B023
                    purchases[strategy, kind] = provider.ledger.head().entries - 1
            if turn:
                duck.append(beside)
                taken.append(seconds)
    base = statistics.median(duck)
    commits = _bare_commits(folder, purchases["paper", "SQLite"])
    lines = []
    for (strategy, kind), taken in ours.items():
        bought, median = purchases[strategy, kind], statistics.median(taken)
        each = f"{(median - base) / bought * 1e6:.0f} µs" if strategy == "paper" else ""
        lines.append(
            f"| {rows:,} × 29, {per_group}, {strategy}, {kind} | {bought:,} | {median:.2f} s | {base:.2f} s "
            f"| {each} | {f'{commits:.2f} s' if kind == 'SQLite' else ''} | {median / base:.2f} "
            f"| {RUNS[strategy, kind]} |"
        )
    return lines


def _files(folder: Path, rows: int, columns: int, per_group: int) -> tuple[Path, Path]:
    truth = data.file(folder, rows, columns, 0.0, "parquet", per_group=per_group)
    return truth, data.file(folder, rows, columns, DIRTY, "csv", per_group=per_group)


def _read_and_group(path: Path) -> None:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}', all_varchar = true)")
        for left, right in data.BASELINE:
            connection.execute(f"SELECT {left}, count(DISTINCT {right}) n FROM t GROUP BY ALL HAVING n > 1").fetchall()


def _bare_commits(folder: Path, purchases: int) -> float:
    """Seconds for as many synced commits of one small row, from the median of some hundreds."""
    with tempfile.TemporaryDirectory(dir=folder) as place, measure.BareCommits(Path(place) / "bare.db") as commit:
        return statistics.median(measure.seconds(commit) for _ in range(500)) * purchases


def _growth(folder: Path, small: bool, strategy: str) -> list[str]:
    """8 columns, so that it is the cleaning that grows, and not the reading of what nobody asks about."""
    sizes = GROWTH[: 2 if small else None]
    seconds = {}
    for rows in sizes:
        truth, dirty = _files(folder, rows, 8, GROUPS[0])
        provider = open_provider(truth)
        seconds[rows] = measure.seconds(lambda: clean(dirty, provider, strategy))  # noqa: B023
    measured = ", ".join(f"{rows:,} rows {taken:.2f} s" for rows, taken in seconds.items())
    overall, last = (_exponent(seconds, sizes[i], sizes[-1]) for i in (0, -2))
    return [
        f"Growth ({strategy}, 8 columns, {GROUPS[0]} rows a group, ledger in memory, one run each): {measured}.",
        f"Exponent {overall:.2f} from the smallest to the largest, {last:.2f} over the last step (target ≤ 1.1).",
    ]


def _exponent(seconds: dict[int, float], small: int, large: int) -> float:
    """b of seconds ≈ a · rowsᵇ."""
    return log(seconds[large] / seconds[small]) / log(large / small)


def _memory(folder: Path, rows: int) -> list[str]:
    truth, dirty = _files(folder, rows, 29, GROUPS[0])
    begin = "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; import clean"
    build = f"{begin}; provider = clean.open_provider(Path(sys.argv[2]))"
    arguments = (str(Path(__file__).parent), str(truth), str(dirty))
    provider_only = measure.peak_memory(build, *arguments)
    both = measure.peak_memory(f"{build}; clean.clean(Path(sys.argv[3]), provider)", *arguments)
    alone, together, file = (size / 2**20 for size in (provider_only, both, dirty.stat().st_size))
    return [
        f"Peak memory of a process that builds the provider and cleans {rows:,} × 29: {together:,.0f} MiB; of one that",
        f"only builds the provider: {alone:,.0f} MiB. The CSV file has {file:,.0f} MiB.",
    ]
