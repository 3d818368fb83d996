"""The linter: what it takes to look a provider over, beside making it ready to sell."""

from __future__ import annotations

import statistics
from contextlib import closing
from pathlib import Path

import measure
import numpy as np
import pyarrow as pa
import pyarrow.csv

from pacas.engine.duck.engine import DuckEngine
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.provider.ledger.ledger import MemoryLedger
from pacas.provider.lint.lint import lint_provider
from pacas.provider.provider import Provider

COLUMNS, SOLD, FAMILY = 43, 18, 8
"""Columns, those of them that are sold, and values of a family."""
INTRODUCTION = f"""
A provider of {COLUMNS} columns, read from CSV: {SOLD} are sold at sealed quotes, each with a hierarchy and a policy
that protects everybody (k = 3). One of them follows from another, and one from two others, which nobody has declared:
the linter must say so. *Load* is from `provider.toml` to a provider that sells; *lint* is all that `pacas lint` does
then.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows = 30_000 if small else 299_000
    file = read_provider_file(_files(folder / f"lint-{rows}", rows))
    loads: list[float] = []
    lints: list[float] = []
    for turn in range(2 if small else 5):
        load, lint, told = _measured(file)
        if turn:
            loads.append(load)
            lints.append(lint)
    load, lint = statistics.median(loads), statistics.median(lints)
    ratio = statistics.median(one / other for one, other in zip(lints, loads, strict=True))
    lines = [
        "| table | load | lint | ratio | told of what is not declared | target |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| {rows:,} × {COLUMNS} | {load:.2f} s | {lint:.2f} s | {ratio:.3f} | {told} of 2 | ≤ 0.1 |",
    ]
    return "\n".join(["## The linter", "", INTRODUCTION, "", *lines])


def _measured(file: ProviderFile) -> tuple[float, float, int]:
    """Seconds to load, seconds to lint, and how many of the planted dependencies were found."""
    made: list[Provider] = []
    with closing(DuckEngine()) as engine:
        load = measure.seconds(lambda: made.append(make_provider(file, engine, MemoryLedger, [], lambda _: None)))
        relation = file.scan_relations(engine)["relation"]
        found = []
        lint = measure.seconds(lambda: found.extend(lint_provider(made[0], engine, relation)))
    told = {finding.attribute for finding in found if finding.rule == "told-by"}
    return load, lint, len(told & {"c1", "c4"})


def _files(folder: Path, rows: int) -> Path:
    """The provider's file, its table and its hierarchies, made once."""
    path = folder / "provider.toml"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        table = _table(rows)
        pyarrow.csv.write_csv(table, folder / "people.csv")
        for name in _sold():
            lines = [f"{v},{name}/{i // FAMILY},*" for i, v in enumerate(table[name].unique().to_pylist())]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", "utf-8")
        path.write_text(_text(), "utf-8")
    return path


def _sold() -> list[str]:
    return [f"c{i}" for i in range(SOLD)]


def _text() -> str:
    hierarchies = "\n".join(f'{name} = "{name}.csv"' for name in _sold())
    match = "\n".join(f'{name} = "id = id"' for name in _sold())
    policies = "\n".join(f'[[policy]]\nx = ["id"]\ny = ["{name}"]\nk = 3\nscope = "row"' for name in _sold())
    return (
        f'[relation]\ndata = "people.csv"\n[hierarchies]\n{hierarchies}\n[match]\n{match}\n{policies}\n'
        "[pricing]\ntotal = 1000.0\n"
    )


def _table(rows: int, seed: int = 7) -> pa.Table:
    rng = np.random.default_rng(seed)
    codes = {"id": np.arange(rows)}
    codes |= {f"c{i}": rng.integers(0, 16 + 8 * i, rows) for i in range(COLUMNS - 1)}
    codes["c1"] = rng.integers(0, 24, 16)[codes["c0"]]
    codes["c4"] = rng.integers(0, 48, 32 * 40)[40 * codes["c2"] + codes["c3"]]
    return pa.table({name: [f"{name} {code}" for code in column.tolist()] for name, column in codes.items()})
