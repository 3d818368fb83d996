"""What the time to answer tells: calls about rows with one private value beside calls about rows with another.

Values are dealt to the rows at random, so that nothing public goes with them: not the texts that are asked with, nor
where a row stands.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

import data
import numpy as np
import provider
import pyarrow as pa
import pyarrow.parquet as pq
from effect import Samples, effect
from served import Connection, Server, serving

BATCH = 100
"""Tuples in a batch."""
TURNS = 20
"""Turns in which calls are compared."""
INTRODUCTION = f"""
A sealed provider, served by `pacas serve` in a process of its own and asked over one connection that is kept. The
private values were dealt to the rows at random. Calls of two kinds are mixed at random: about rows whose value is among
the first half of the domain, and about rows whose value is among the second. *d* is Cohen's, of the logarithms; *AUC*
is the chance that a call of the second kind takes longer than one of the first: 0.5 tells nothing. Both are means of
{TURNS} turns, and the interval follows from how these differ. In the controls the kinds differ in something public,
which the same method must see.
""".strip()

Kinds = tuple[list[bytes], list[bytes]]
"""Calls of two kinds."""


def chapter(folder: Path, *, small: bool) -> str:
    rows, calls = (3_000, 400) if small else (345_000, 20_000)
    with tempfile.TemporaryDirectory(dir=_made(folder)) as place:
        path = Path(place) / "dealt.parquet"
        asked = _deal(data.file(folder, rows, 29, 0.0, "parquet"), path)
        lines = ["| what is asked | kinds | median | d | AUC, 95 % |", "| --- | --- | --- | --- | --- |"]
        with (
            serving(path, Path(place), "sqlite:///ledger.db", sealed=True) as server,
            closing(server.connection()) as connection,
        ):
            for what, (kinds, prepared) in _questions(server, asked, calls).items():
                lines.append(_line(what, kinds, prepared, connection))
    return "\n".join(["## What time tells", "", INTRODUCTION, "", *lines])


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _deal(source: Path, path: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Write the relation with its values dealt anew; the rows that got one of the first, and of the second half."""
    rng = np.random.default_rng(7)
    table = pq.read_table(source, columns=[*provider.KEY, "drug"])
    values = rng.integers(0, data.VALUES["drug"], len(table))
    drug = pa.array([f"drug-{value}" for value in values])
    pq.write_table(table.set_column(table.column_names.index("drug"), "drug", drug), path)
    keys = table.select(list(provider.KEY)).to_pylist()
    order = rng.permutation(len(keys))
    high = values >= data.VALUES["drug"] // 2
    return tuple([keys[i] for i in order if high[i] == half] for half in (False, True))  # type: ignore[return-value]


def _questions(
    server: Server, asked: tuple[list[dict[str, str]], list[dict[str, str]]], calls: int
) -> Mapping[str, tuple[str, Kinds]]:
    """What is compared, by name: the two kinds, and calls of each."""
    few = max(calls // 4, 10 * TURNS)
    low, high = asked
    nobody = [{**key, "gender": "gender-9"} for key in low]
    keys = map(str, count())
    return {
        "one quote": ("value", (_quotes(server, low, calls, 1), _quotes(server, high, calls, 1))),
        f"{BATCH} tuples at all levels": (
            "value",
            (_quotes(server, low, few, BATCH), _quotes(server, high, few, BATCH)),
        ),
        "a purchase for nothing, refused": (
            "value",
            (_purchases(server, low, few, keys), _purchases(server, high, few, keys)),
        ),
        "control: one quote": ("found or not", (_quotes(server, low, calls, 1), _quotes(server, nobody, calls, 1))),
        f"control: {BATCH} tuples at all levels": (
            "found or not",
            (_quotes(server, low, few, BATCH), _quotes(server, nobody, few, BATCH)),
        ),
    }


def _quotes(server: Server, keys: Sequence[dict[str, str]], calls: int, tuples: int) -> list[bytes]:
    """So many calls about so many tuples each: one at level 0, several at all levels."""
    level = {"level": 0} if tuples == 1 else {}
    prepared = []
    for number in range(calls):
        mine = [keys[(number * tuples + place) % len(keys)] for place in range(tuples)]
        requests = [{"tuple": key, "attribute": "drug", **level} for key in mine]
        prepared.append(server.call("POST /v1/quotes", body=json.dumps({"requests": requests}).encode()))
    return prepared


def _purchases(server: Server, keys: Sequence[dict[str, str]], calls: int, names: Iterator[str]) -> list[bytes]:
    """Purchases that may cost nothing: a question that is as free as a quote."""
    prepared = []
    for key in keys[:calls]:
        body = {"request": {"tuple": key, "attribute": "drug", "level": 0}, "ceiling": 0}
        prepared.append(server.call("POST /v1/purchases", body=json.dumps(body).encode(), key=next(names)))
    return prepared


def _line(what: str, kinds: str, prepared: Kinds, connection: Connection) -> str:
    found = effect(list(_timed(prepared, connection)))
    first, second = (median * 1e6 for median in found.medians)
    seen = "seen" if found.is_seen else "not seen"
    return (
        f"| {what}, {len(prepared[0]):,} + {len(prepared[1]):,} calls | {kinds} | {first:.1f} µs, {second:.1f} µs "
        f"| {found.d:+.3f} | {found.auc:.3f} ± {found.margin:.3f}: {seen} |"
    )


def _timed(prepared: Kinds, connection: Connection) -> Iterator[Samples]:
    """Seconds that calls took, turn by turn, the two kinds mixed at random; the first turn only warms up."""
    rng = np.random.default_rng()
    for turn in range(TURNS + 1):
        mine = [(kind, call) for kind in (0, 1) for call in prepared[kind][turn :: TURNS + 1]]
        taken: tuple[list[float], list[float]] = ([], [])
        for place in rng.permutation(len(mine)).tolist():
            kind, call = mine[place]
            start = time.perf_counter()
            connection.ask(call)
            taken[kind].append(time.perf_counter() - start)
        if turn:
            yield np.array(taken[0]), np.array(taken[1])
