"""The linter: what it takes to look a provider over, beside making it ready to sell."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import measure
import numpy as np
import pyarrow as pa
import pyarrow.csv

from pacas.engine.duck.engine import DuckEngine
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.lint.dependencies import _Search
from pacas.provider.lint.free_quotes import MANY, FreeQuotes
from pacas.provider.lint.lint import lint_provider
from pacas.provider.provider import Provider

COLUMNS, SOLD, FAMILY = 43, 18, 8
"""Columns, those of them that are sold, and values of a family."""
INTRODUCTION = f"""
A provider of {COLUMNS} columns, read from CSV: {SOLD} are sold at sealed quotes, each with a hierarchy and a policy
that protects everybody (k = 3). One of them follows from another, and one from two others, which nobody has declared:
the linter must say so. *Load* is from `provider.toml` to a provider that sells; *lint* is all that `pacas lint` does
then; both are processor time. *Pairs* is the part of it in which every two of {SOLD} columns are tried as a left side
of {SOLD} others: a first look at a tenth of the rows rules nearly all of them out, and what is left is looked at more
closely. *Quotes* is what {MANY:,} people are quoted for all {SOLD}, however many there are. Where tables are small
these two are half of what it takes, and loading takes less.
""".strip()
SIZES = (10_000, 30_000, 299_000)
PARTS = {"pairs": (_Search, "pairs"), "quotes": (FreeQuotes, "_ladders")}


def chapter(folder: Path, *, small: bool) -> str:
    lines = [
        "| table | load | lint | of it pairs | of it quotes | lint : load | told of what is not declared | target |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(_line(folder, rows, 2 if small else 6) for rows in SIZES[: 1 if small else None]),
    ]
    return "\n".join(["## The linter", "", INTRODUCTION, "", *lines])


def _line(folder: Path, rows: int, turns: int) -> str:
    file = read_provider_file(_files(folder / f"lint-{rows}", rows))
    measured = [_measured(file) for _ in range(turns)][1:]
    load, lint, pairs, quotes = (statistics.median(column) for column in zip(*(m[:4] for m in measured), strict=True))
    ratio = statistics.median(one.lint / one.load for one in measured)
    times = f"{load:.2f} s | {lint:.3f} s | {pairs:.3f} s | {quotes:.3f} s"
    return f"| {rows:,} × {COLUMNS} | {times} | {ratio:.3f} | {measured[-1].told} of 2 | ≤ 0.1 |"


class Measured(NamedTuple):
    """Seconds to load, to lint and for two parts of that; and how many of the planted dependencies were found."""

    load: float
    lint: float
    pairs: float
    quotes: float
    told: int


def _measured(file: ProviderFile) -> Measured:
    made: list[Provider] = []
    with closing(DuckEngine()) as engine:
        load = measure.processor_seconds(
            lambda: made.append(make_provider(file, engine, MemoryLedger, [], lambda _: None))
        )
        relation = file.scan_relations(engine)["relation"]
        found = []
        with _timed() as parts:
            lint = measure.processor_seconds(lambda: found.extend(lint_provider(made[0], engine, relation)))
    told = {finding.attribute for finding in found if finding.rule == "told-by"}
    return Measured(load, lint, parts["pairs"], parts["quotes"], len(told & {"c1", "c4"}))


@contextmanager
def _timed() -> Iterator[dict[str, float]]:
    """How long the parts of the linter take while it runs."""
    taken = dict.fromkeys(PARTS, 0.0)

    def timed(part: str, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            answers: list[Any] = []
            taken[part] += measure.processor_seconds(lambda: answers.append(method(*arguments)))
            return answers[0]

        return call

    with ExitStack() as stack:
        for part, (owner, name) in PARTS.items():
            stack.enter_context(patch.object(owner, name, timed(part, getattr(owner, name))))
        yield taken


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
