"""A clean over HTTP: runs of purchases that share a call and a commit, beside the same purchases one by one."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

import clean
import data
import pyarrow as pa
from served import Server, serving_file

from pacas.core.relation import Relation
from pacas.engine.hierarchy_files import arx
from pacas.protocol.messages import Answer, Payment, Refusal, Request
from pacas.remote.remote_provider import RemoteProvider

INTRODUCTION = f"""
`pacas.SafeClean` (the paper's strategy, two dependencies, a tenth of the tuples wrong, 50 rows a group, k = {clean.K}
at level {clean.LEVEL}) buys from `pacas serve` in a process of its own, its ledger in SQLite: in runs as it does, and
one by one, as a client buys that plans nothing ahead. Both buy the same values at the same prices. *Buying* is the time
in calls that buy, *the whole* is from a CSV file to the repaired table. They take turns; figures are medians.
""".strip()


class Timed(RemoteProvider):
    """A provider's server, and the time that purchases there take."""

    buying, bought, most = 0.0, 0, 1

    @property
    def most_at_once(self) -> int:
        return min(super().most_at_once, self.most)

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        begin = time.perf_counter()
        told = super().pay(request, ceiling, key)
        self._note(begin, [told])
        return told

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        begin = time.perf_counter()
        told = super().pay_many(payments)
        self._note(begin, told)
        return told

    def _note(self, begin: float, told: Sequence[Answer | Refusal]) -> None:
        self.buying += time.perf_counter() - begin
        self.bought += sum(isinstance(one, Answer) for one in told)


def chapter(folder: Path, *, small: bool) -> str:
    rows, repeats = (10_000, 1) if small else (100_000, 3)
    truth = data.file(folder, rows, 8, 0.0, "parquet", per_group=50)
    dirty = data.file(folder, rows, 8, clean.DIRTY, "csv", per_group=50)
    taken: dict[int, list[tuple[float, float, float]]] = {1: [], 64: []}
    tables: set[str] = set()
    bought = 0
    for _ in range(repeats):
        for most, times in taken.items():
            whole, one, cpu, table = _clean(folder, truth, dirty, most)
            bought = one.bought
            times.append((bought / one.buying, bought / whole, cpu / bought * 1e6))
            tables.add(table)
    assert len(tables) == 1, "the same repairs, whatever is bought together"
    figures = {most: [statistics.median(each) for each in zip(*times, strict=True)] for most, times in taken.items()}
    lines = [
        "| purchases a call | purchases/s: buying | ratio | the whole | ratio | server's CPU each | target |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for most, (buying, whole_rate, cpu) in figures.items():
        ratios = buying / figures[1][0], whole_rate / figures[1][1]
        lines.append(
            f"| {'one' if most == 1 else f'up to {most}'} | {buying:,.0f} | {ratios[0]:.1f} | {whole_rate:,.0f} "
            f"| {ratios[1]:.1f} | {cpu:.0f} µs | {'' if most == 1 else '≥ 5'} |"
        )
    return "\n".join([f"## A clean over HTTP, {rows:,} rows, {bought:,} purchases", "", INTRODUCTION, "", *lines])


def _clean(folder: Path, truth: Path, dirty: Path, most: int) -> tuple[float, Timed, float, str]:
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        _served(truth, Path(place)) as server,
        closing(Timed(f"http://127.0.0.1:{server.port}", server.tokens["client"])) as remote,
    ):
        remote.most = most
        before, begin = server.cpu(), time.perf_counter()
        repaired = clean.clean(dirty, remote)
        whole = time.perf_counter() - begin
        return whole, remote, server.cpu() - before, _digest(repaired)


def _digest(relation: Relation) -> str:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, (table := relation.to_arrow().combine_chunks()).schema) as writer:
        writer.write_table(table)
    return sha256(stream.getvalue()).hexdigest()


@contextmanager
def _served(truth: Path, folder: Path) -> Iterator[Server]:
    for name in data.VALUES:
        (folder / f"{name}.csv").write_text(arx.write(clean.hierarchy(name)))
    ledger = "sqlite:///ledger.db"
    policies = [
        f'[[policy]]\nx = {json.dumps(columns)}\ny = ["{sold}"]\nlevels = {{ {sold} = {clean.LEVEL} }}\nk = {clean.K}'
        for sold, columns in clean.FOUND_BY.items()
    ]
    lines = [
        f"[relation]\ndata = {json.dumps(str(truth.absolute()))}\n[hierarchies]",
        *(f'{name} = "{name}.csv"' for name in data.VALUES),
        "[match]",
        *(f'{sold} = "{", ".join(f"{c} = {c}" for c in columns)}"' for sold, columns in clean.FOUND_BY.items()),
        *policies,
        f"[pricing]\nseed = 7\ntotal = {clean.TOTAL}.0\n[ledger]\nurl = {json.dumps(ledger)}",
    ]
    with serving_file(folder, "\n".join(lines), ledger) as server:
        yield server
