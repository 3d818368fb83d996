"""Tables larger than memory: time and peak memory of checking, cleaning and selling, on DuckDB and on Spark."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from math import log
from pathlib import Path

import duckdb
import measure

ROWS = (1_000_000, 10_000_000, 30_000_000)
MEMORY = "2GB"
PER_GROUP, DIRTY_GROUPS, DIRTY_ROWS = 100, 100, 20
"""Rows of a group; of so many groups one has errors; in it, one row of so many."""
MEDICINES = 50
PROVIDED = 3
"""The provider's rows for each group of the client's."""
BATCH = 10_000
ENGINES = ("duckdb", "spark")
PACAS = Path(sys.executable).with_name("pacas")

INTRODUCTION = f"""
A Parquet file of 8 columns, `GEN, DIAG -> MED` (groups of {PER_GROUP} rows, one group in {DIRTY_GROUPS} with errors in
one row of {DIRTY_ROWS}) and `ZIP -> CITY` (which holds). `pacas check` and `pacas clean` run as commands, from the file
to the written table; every class is bought for, in a ledger on the disk. DuckDB is limited to {MEMORY}; Spark is local,
on all cores, with {MEMORY} for its driver, which is all of it here. Peak memory is that of the whole process tree, Java
included. Both engines' tables and purchases are compared, byte for byte.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    sizes = (100_000, 1_000_000) if small else ROWS
    engines = [e for e in ENGINES if e == "duckdb" or shutil.which("java")]
    runs: dict[tuple[str, int], Run] = {}
    for rows in sizes:
        for engine in engines:
            runs[engine, rows] = _run(folder, engine, rows)
            print(_line(rows, engine, runs[engine, rows]), file=sys.stderr, flush=True)
    lines = [
        "| rows | engine | check | clean | purchases | peak memory, check | peak memory, clean |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_line(rows, engine, run) for (engine, rows), run in runs.items()),
    ]
    growth = [_growth(engine, sizes, runs) for engine in engines]
    fixed = [_fixed_cost(folder)] if "spark" in engines else ["Spark was left out: there is no Java here."]
    same = [_compared(sizes, runs)] if "spark" in engines else []
    return "\n".join(
        [
            "## Larger than memory",
            "",
            INTRODUCTION,
            "",
            *lines,
            "",
            *growth,
            *fixed,
            *same,
            "",
            *_selling(folder, small),
        ]
    )


def weighing(folder: Path, *, small: bool) -> str:
    """The same tables, cleaned by a client that weighs."""
    sizes = (100_000, 1_000_000) if small else ROWS
    runs = {rows: _clean(_world(folder, rows), _chosen("duckdb"), "weigh")[0] for rows in sizes}
    lines = [
        f"| {rows:,} | {run.seconds:.1f} s | {len(run.document['purchases']):,} "  # type: ignore[arg-type]
        f"| {run.document['violations_before']:,} → {run.document['violations_after']:,} | {run.peak / 10**9:.2f} GB |"
        for rows, run in runs.items()
    ]
    taken = [run.seconds for run in runs.values()]
    overall, last = (log(taken[-1] / taken[i]) / log(sizes[-1] / sizes[i]) for i in (0, -2))
    return "\n".join(
        [
            "## Larger than memory, weighed",
            "",
            "The tables above on DuckDB, limited to 2GB as there: of a table that is not held, the rows of violated",
            "groups are weighed. Their own evidence settles nearly all.",
            "",
            "| rows | clean | purchases | violations | peak memory |",
            "| --- | --- | --- | --- | --- |",
            *lines,
            "",
            f"Growth: exponent {overall:.2f}, over the last step {last:.2f}; target ≤ 1.1. Memory: target 2GB + 25 %.",
        ]
    )


# ---- checking and cleaning ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taken:
    """What a command has taken, and what it said."""

    seconds: float
    peak: int
    document: dict[str, object]


@dataclass(frozen=True)
class Run:
    check: Taken
    clean: Taken
    output: bytes


def _run(folder: Path, engine: str, rows: int) -> Run:
    place, chosen = _world(folder, rows), _chosen(engine)
    trees = ["--hierarchy", f"MED={place / 'med.csv'}"]
    fds = ["--fd", "GEN, DIAG -> MED", "--fd", "ZIP -> CITY"]
    check = command("check", str(place / "client.parquet"), *fds, *trees, *chosen)
    return Run(check, *_clean(place, chosen, "paper"))


def _chosen(engine: str) -> list[str]:
    return ["--engine", engine, "--memory", MEMORY, *(["--master", "local[*]"] if engine == "spark" else [])]


def _clean(place: Path, chosen: list[str], strategy: str) -> tuple[Taken, bytes]:
    """What cleaning takes, and what is written."""
    with tempfile.TemporaryDirectory(dir=place) as made:
        shutil.copy(place / "provider.toml", Path(made) / "provider.toml")
        output = Path(made) / "clean.parquet"
        clean = command(
            "clean",
            str(place / "client.toml"),
            *("--provider", str(Path(made) / "provider.toml"), "--budget", "1000000", "--output", str(output)),
            *("--strategy", strategy),
            *chosen,
        )
        return clean, _digest(output)


def _line(rows: int, engine: str, run: Run) -> str:
    purchases = run.clean.document["purchases"]
    peaks = (f"{taken.peak / 10**9:.2f} GB" for taken in (run.check, run.clean))
    return (
        f"| {rows:,} | {engine} | {run.check.seconds:.1f} s | {run.clean.seconds:.1f} s "
        f"| {len(purchases):,} | {' | '.join(peaks)} |"  # type: ignore[arg-type]
    )


def _growth(engine: str, sizes: tuple[int, ...], runs: dict[tuple[str, int], Run]) -> str:
    told = []
    for what in ("check", "clean"):
        taken = [getattr(runs[engine, rows], what).seconds for rows in sizes]
        overall, last = (log(taken[-1] / taken[i]) / log(sizes[-1] / sizes[i]) for i in (0, -2))
        each = (taken[-1] - taken[0]) / (sizes[-1] - sizes[0]) * 10**6
        told.append(
            f"{what}: {each:.2f} s for each further million rows, exponent {overall:.2f}, over the last step {last:.2f}"
        )
    return f"- Growth on {engine}: {'; '.join(told)}; target ≤ 1.1."


FLOOR = """
import sys
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
session.read.parquet(sys.argv[1]).groupBy("GEN").count().collect()
session.stop()
"""
"""What pyspark takes by itself, as it comes: one trivial group-by."""


def fixed_cost(folder: Path, *, small: bool) -> str:
    """The chapter on what Spark costs where there is next to nothing to do."""
    return "\n".join(["## Spark's fixed cost", "", _fixed_cost(folder, 1 if small else 3)])


def _fixed_cost(folder: Path, turns: int = 1) -> str:
    path = str(_world(folder, 1_000) / "client.parquet")
    fds = ["--fd", "GEN, DIAG -> MED", "--fd", "ZIP -> CITY"]
    taken: dict[str, list[float]] = {name: [] for name in ("floor", *ENGINES)}
    for _ in range(turns):
        floor = [sys.executable, "-c", FLOOR, path]
        taken["floor"].append(measure.seconds(lambda: subprocess.run(floor, capture_output=True, check=True)))  # noqa: B023
        for engine in ENGINES:
            taken[engine].append(command("check", path, *fds, "--engine", engine).seconds)
    least, duck, spark = (statistics.median(times) for times in taken.values())
    return (
        f"- Fixed cost: checking 1,000 rows takes {spark:.1f} s on Spark and {duck:.1f} s on DuckDB; one group-by of "
        f"pyspark's own, started as it comes, takes {least:.1f} s in the same run: {spark / least:.2f} × (target ≤ 2)."
    )


def _compared(sizes: tuple[int, ...], runs: dict[tuple[str, int], Run]) -> str:
    for rows in sizes:
        ours, theirs = runs["duckdb", rows], runs["spark", rows]
        told = ("purchases", "spent", "violations_before", "violations_after", "unrepaired")
        if ours.output != theirs.output or any(ours.clean.document[k] != theirs.clean.document[k] for k in told):
            raise AssertionError(f"the engines differ at {rows:,} rows")
    return "- The cleaned files, purchases and prices of both engines are the same at every size, byte for byte."


# ---- selling --------------------------------------------------------------------------------------------------------


def _selling(folder: Path, small: bool) -> list[str]:
    rows = 1_000_000 if small else ROWS[-1]
    place = _shop(folder, rows)
    requests = place / "requests.jsonl"
    with closing(duckdb.connect()) as connection:
        found = connection.execute(
            f"SELECT GEN, DIAG FROM '{place / 'provider.parquet'}' USING SAMPLE reservoir({BATCH} ROWS) REPEATABLE (7)"
        ).fetchall()
    asked = ({"tuple": {"GEN": gen, "DIAG": diag}, "attribute": "MED"} for gen, diag in found)
    requests.write_text("".join(json.dumps(line) + "\n" for line in asked))
    lines = []
    for engine in [e for e in ENGINES if e == "duckdb" or (small and shutil.which("java"))]:
        (place / "provider.ledger.db").unlink(missing_ok=True)
        chosen = ["--engine", engine, "--memory", MEMORY]
        none = place / "none.jsonl"
        none.write_text(json.dumps({"tuple": {"GEN": "nobody", "DIAG": "none"}, "attribute": "MED"}) + "\n")
        start = command("quote", str(place / "provider.toml"), "--requests", str(none), *chosen)
        batch = command("quote", str(place / "provider.toml"), "--requests", str(requests), *chosen)
        lines.append(
            f"A provider over {rows:,} rows ({engine}, {MEMORY}): started from Parquet, and one request answered, in "
            f"{start.seconds:.1f} s; with a batch of {BATCH:,} requests at all levels, {batch.seconds:.1f} s; "
            f"peak memory {max(start.peak, batch.peak) / 10**9:.2f} GB (targets: start under 60 s, {MEMORY} + 25 %)."
        )
    return lines


# ---- worlds ---------------------------------------------------------------------------------------------------------


def _world(folder: Path, rows: int) -> Path:
    """A client's file of so many rows, and a provider's that knows what should be there."""
    place = (folder / f"scale-{rows}").resolve()
    if (place / "done").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    groups = max(rows // PER_GROUP, 2)
    truth = f"'med' || ((g * 7) % {MEDICINES})"
    wrong = f"'med' || ((g * 7 + 1) % {MEDICINES})"
    person = "CASE WHEN g % 2 = 0 THEN 'female' ELSE 'male' END AS GEN, 'D' || (g // 2) AS DIAG"
    _copy(
        f"""SELECT i AS ID, {person},
        CASE WHEN g % {DIRTY_GROUPS} = 0 AND hash(i + 10**12) % {DIRTY_ROWS} = 0 THEN {wrong} ELSE {truth} END AS MED,
        (18 + hash(i * 3) % 70)::INT AS AGE, 'Z' || (hash(i * 5) % 40000) AS ZIP,
        'C' || ((hash(i * 5) % 40000) // 100) AS CITY, round((hash(i * 11) % 100000) / 7.0, 3) AS COST
        FROM (SELECT range AS i, (hash(range) % {groups})::BIGINT AS g FROM range({rows}))""",
        place / "client.parquet",
    )
    _copy(
        f"""SELECT {person}, {truth} AS MED, (18 + hash(i) % 70)::INT AS AGE
        FROM (SELECT range AS i, range // {PROVIDED} AS g FROM range({groups * PROVIDED}))""",
        place / "provider.parquet",
    )
    _settings(place, groups * PROVIDED)
    return place


def _shop(folder: Path, rows: int) -> Path:
    """A provider's file of so many rows."""
    place = (folder / f"shop-{rows}").resolve()
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        _copy(
            f"""SELECT CASE WHEN g % 2 = 0 THEN 'female' ELSE 'male' END AS GEN, 'D' || (g // 2) AS DIAG,
            'med' || ((g * 7) % {MEDICINES}) AS MED, (18 + hash(i) % 70)::INT AS AGE
            FROM (SELECT range AS i, (hash(range) % {rows // 20})::BIGINT AS g FROM range({rows}))""",
            place / "provider.parquet",
        )
        _settings(place, rows)
    return place


def _copy(sql: str, path: Path) -> None:
    with closing(duckdb.connect(config={"memory_limit": "4GB"})) as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def _settings(place: Path, provided: int) -> None:
    families = [f"med{i};family {i // 5};class {i // 25};*" for i in range(MEDICINES)]
    (place / "med.csv").write_text("\n".join(families) + "\n")
    (place / "client.toml").write_text(
        'data = "client.parquet"\nfds = ["GEN, DIAG -> MED", "ZIP -> CITY"]\n[hierarchies]\nMED = "med.csv"\n'
    )
    total = max(provided * 10 // 10**6, 1)
    (place / "provider.toml").write_text(
        f'[relation]\ndata = "{place / "provider.parquet"}"\n[hierarchies]\nMED = "{place / "med.csv"}"\n'
        '[match]\nMED = "GEN = GEN, DIAG = DIAG"\n[[policy]]\nx = ["GEN", "DIAG"]\ny = ["MED"]\nlevels = { MED = 1 }\n'
        f"k = 2\n[pricing]\ntotal = {total}\nsupport = {{ per_cell = 10, seed = 7 }}\n"
    )
    (place / "done").touch()


# ---- measuring ------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> Taken:
    """Run a command, and watch what its processes hold together."""
    start = time.perf_counter()
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # compile once
    running = subprocess.Popen(
        [PACAS, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=usual
    )
    watched = _Watched(running.pid)
    said, complaint = running.communicate()
    seconds = time.perf_counter() - start
    peak = watched.stop()
    if running.returncode not in (0, 1):
        raise RuntimeError(f"pacas {arguments[0]}: {complaint.strip()}")
    return Taken(seconds, peak, json.loads(said))


class _Watched:
    """The most memory that a process and its children have held at one moment, looked at three times a second."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._done = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._done.wait(0.3):
            self._peak = max(self._peak, sum(map(_resident, _family(self._pid))))


def _family(pid: int) -> list[int]:
    """A process and all that it has started."""
    members = [pid]
    for member in members:
        try:
            tasks = os.listdir(f"/proc/{member}/task")
            for task in tasks:
                members += map(int, Path(f"/proc/{member}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return members


def _resident(pid: int) -> int:
    """What a process holds for itself alone, and its share of what it holds with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
