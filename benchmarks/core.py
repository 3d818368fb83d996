"""The core's figures: violations and classes, generalization, anonymity, growth, memory."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import data
import duckdb
import measure
import numpy as np

import pacas
from pacas.core.hierarchy import Hierarchy

DIRTY = 0.1
INTRODUCTION = f"""
`pacas.check` (violations of two dependencies, and the equivalence classes with their rows and errors) beside DuckDB's
own `GROUP BY … HAVING count(DISTINCT …) > 1` for the same two dependencies on the same file. Groups have about
{data.ROWS_PER_GROUP} rows; each right-hand side is wrong in the share of tuples given. Median seconds.
""".strip()
MIB = 2**20


def chapter(folder: Path, *, small: bool) -> str:
    sizes = [10_000, 100_000] if small else [10_000, 100_000, 1_000_000, 10_000_000]
    rows = ["| what | ours | beside it | ratio | target |", "| --- | --- | --- | --- | --- |"]
    rows += _checks(folder, 30_000 if small else 345_000, 29)
    rows += [_check(folder, sizes[-1], 8, "parquet", DIRTY), _check(folder, sizes[-1], 8, "parquet", 0.01)]
    rows += [_general(folder, 30_000 if small else 345_000, 29)]
    rows += [_generalize(10**6 if small else 10**7)]
    rows += _anonymity(10**4 if small else 10**6)
    return "\n".join(
        [
            "## The core",
            "",
            INTRODUCTION,
            "",
            *rows,
            "",
            *_growth(folder, sizes),
            "",
            _memory(folder, sizes[-1]),
        ]
    )


def _checks(folder: Path, rows: int, columns: int) -> list[str]:
    return [_check(folder, rows, columns, format_, DIRTY) for format_ in ("csv", "parquet")]


def _check(folder: Path, rows: int, columns: int, format_: str, dirty: float) -> str:
    path = data.file(folder, rows, columns, dirty, format_)
    repeats = 9 if rows <= 10**6 else 5
    took = measure.medians({"ours": lambda: check(path), "duckdb": lambda: group_bys(path)}, repeats)
    what = f"check, {rows:,} × {columns} {format_}, {dirty:.0%} dirty"
    return _row(what, took["ours"], took["duckdb"], "≤ 2", "DuckDB")


def _general(folder: Path, rows: int, columns: int) -> str:
    """The same with hierarchies on the right, and every fiftieth row's value a general one."""
    path = data.file(folder, rows, columns, DIRTY, "parquet", general=50)
    trees = {name: data.hierarchy(name) for name in data.VALUES}
    took = measure.medians({"ours": lambda: check(path, trees), "duckdb": lambda: group_bys(path)}, repeats=9)
    what = f"check, {rows:,} × {columns} parquet, {DIRTY:.0%} dirty, hierarchies and 2% general values"
    return _row(what, took["ours"], took["duckdb"], "≤ 2", "DuckDB")


def check(path: Path, hierarchies: dict[str, Hierarchy] | None = None) -> pacas.Check:
    found = pacas.check(pacas.scan_relation(path), data.FDS, hierarchies)
    assert found.violations and len(found.classes)
    return found


def group_bys(path: Path) -> None:
    with duckdb.connect() as connection:
        for left, right in data.BASELINE:
            connection.sql(
                f"SELECT {left} FROM '{path}' GROUP BY {left} HAVING count(DISTINCT {right}) > 1"
            ).to_arrow_table()


def _generalize(size: int) -> str:
    groups = [(f"v{i}", f"g{i % 100}", f"h{i % 10}", "*") for i in range(1_000)]
    tree = Hierarchy.from_rows(groups)
    codes = np.random.default_rng(7).integers(0, 1_000, size).astype(np.int32)
    plain = np.ascontiguousarray(tree.ancestors[1])
    took = measure.medians({"ours": lambda: tree.generalize(codes, 1), "numpy": lambda: np.take(plain, codes)})
    return _row(f"generalize {size:,} codes", took["ours"], took["numpy"], "≤ 3", "NumPy take")


def _anonymity(size: int) -> list[str]:
    relation = data.table(size, 8, DIRTY)
    drugs = Hierarchy.from_rows([(f"drug-{i}", f"family-{i % 20}", "*") for i in range(73)])
    policy = pacas.Policy(("age", "status"), ("drug",), {"drug": 1}, k=3)
    plain = relation.cast(_plain(relation))
    frame = plain.select(["age", "status", "drug"]).to_pandas()

    def group_by() -> None:
        with duckdb.connect() as connection:
            connection.register("plain", plain)
            connection.sql("SELECT age, status, count(DISTINCT drug) FROM plain GROUP BY age, status").to_arrow_table()

    def published() -> None:
        from pycanon import anonymity

        anonymity.l_diversity(frame, ["age", "status"], ["drug"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = {"ours": lambda: pacas.anonymity(plain, policy, {"drug": drugs})}
        beside = measure.medians({**ours, "duckdb": group_by}, repeats=9)
        once = measure.medians({**ours, "pycanon": published}, repeats=1)
    what = f"(X,Y,L)-anonymity, {size:,} rows"
    pycanon = f"{once['pycanon']:.2f} s (pycanon, l-diversity) | {once['pycanon'] / once['ours']:.0f} × faster"
    return [
        _row(what, beside["ours"], beside["duckdb"], "≤ 2", "DuckDB group-by"),
        f"| {what} | {once['ours']:.3f} s | {pycanon} | ≥ 10 × |",
    ]


def _plain(relation: object) -> object:
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in relation.column_names])  # type: ignore[attr-defined]


def _growth(folder: Path, sizes: list[int]) -> list[str]:
    """The exponent b of seconds ≈ a · rowsᵇ, from the smallest to the largest table."""
    seconds = []
    for rows in sizes:
        path = data.file(folder, rows, 8, DIRTY, "parquet")
        seconds.append(measure.medians({"ours": lambda path=path: check(path)}, repeats=3)["ours"])  # type: ignore[misc]
    overall = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
    last = np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2])
    taken = ", ".join(f"{rows:,} rows {s:.3f} s" for rows, s in zip(sizes, seconds, strict=True))
    return [
        f"Growth of `check` (8 columns, {DIRTY:.0%} dirty): {taken}.",
        f"Exponent {overall:.2f} from the smallest to the largest, {last:.2f} over the last step (target ≤ 1.1).",
        "",
        f"What bounds the ratio on a Parquet file of 345,000 rows is fixed cost: {seconds[0]:.3f} s go by at",
        f"{sizes[0]:,} rows already, for starting the engine and a dozen statements, where DuckDB alone needs two.",
    ]


def _memory(folder: Path, rows: int) -> str:
    path = data.file(folder, rows, 8, DIRTY, "parquet")
    code = "import sys, pacas\nfound = pacas.check(pacas.scan_relation(sys.argv[1]), sys.argv[2:])\nlen(found.classes)"
    peak = measure.peak_memory(code, str(path), *data.FDS)
    size = path.stat().st_size
    limit = 2 * size + 2**30
    return (
        f"Peak memory of `check` on {rows:,} × 8: {peak / MIB:,.0f} MiB, the Parquet file being {size / MIB:,.0f} MiB "
        f"(target: 2 × the file + 1 GiB = {limit / MIB:,.0f} MiB)."
    )


def _row(what: str, ours: float, beside: float, target: str, whom: str) -> str:
    return f"| {what} | {ours:.3f} s | {beside:.3f} s ({whom}) | {ours / beside:.2f} | {target} |"


if __name__ == "__main__":
    sys.exit("run benchmarks/run.py core")
