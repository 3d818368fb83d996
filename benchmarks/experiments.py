"""The evaluation's own figures: how long it takes to put errors into a large table, and to randomize it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import measure

from pacas.experiments.baselines.private_clean import privatize
from pacas.experiments.datasets.load import load
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.formats.relations.relations import read_relation, write_relation

INTRODUCTION = """
On the synthetic clinical table, in memory. *Errors*: a tenth of the tuples gets one each, half on the right and half on
the left sides of two dependencies, every one of them detectable. *GRR*: PrivateClean's randomized response with p = 0.5
on all columns. Beside them, DuckDB reads the same table from a CSV file into memory.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 34_500 if small else 345_000
    dataset = load("synthetic-clinical", rows=rows)
    truth = dataset.truth
    generator = ErrorGenerator(dataset.fds, rate=0.1, side="both", hierarchies=dataset.hierarchies, seed=1)
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "truth.csv"
        write_relation(truth, file)
        taken = measure.medians(
            {
                "errors": lambda: generator.dirty(truth).relation,
                "grr": lambda: privatize(truth, p=0.5, seed=1),
                "read": lambda: read_relation(file),
            },
            1 if small else 5,
        )
    size = f"{rows:,} × {len(truth.columns)}"
    lines = [
        "| what | ours | reading it | ratio | target |",
        "| --- | --- | --- | --- | --- |",
        _line(f"errors in a tenth of {size}", taken["errors"], taken["read"], "≤ 5 s"),
        _line(f"GRR on {size}", taken["grr"], taken["read"], "≤ 1.5 s"),
    ]
    return "\n".join(["## The evaluation's tools", "", INTRODUCTION, "", *lines])


def _line(what: str, ours: float, reading: float, target: str) -> str:
    return f"| {what} | {ours:.2f} s | {reading:.2f} s | {ours / reading:.2f} | {target} |"
