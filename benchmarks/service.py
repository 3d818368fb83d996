"""The service's figures: quotes beside calls that do nothing, batches, and purchases beside bare commits.

The server is `pacas serve` in a process of its own; this process only sends bytes made beforehand and waits for theirs.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import data
import measure
import numpy as np
import provider
import pyarrow as pa
from served import Connection, Server, serving

from pacas.protocol.messages import Request
from pacas.wire.shapes.base import ARROW

CONNECTIONS = 8
DISTINCT, TURN = 10_000, 500
"""Different calls of a kind, and how many of them make a turn."""
HEALTH, CATALOGUE, QUOTE, LADDER = "health", "catalogue", "quote", "ladder"
CALLS = {
    HEALTH: "`GET /v1/health`, a no-op",
    CATALOGUE: "`GET /v1/catalogue`, a no-op that checks a token and is sent a quote's body",
    QUOTE: "`POST /v1/quotes`, one request at one level",
    LADDER: "`POST /v1/quotes`, one request at all levels",
}
INTRODUCTION = f"""
`pacas serve` in a process of its own, over the provider above ({provider.HEIGHT + 1} levels), its log written to a
file; the calls come from a second process over {CONNECTIONS} connections that are kept, and are made beforehand. All
pass the same server, gate and routes. They take turns; calls a second are the median turn's, and a ratio is the median
of each turn's. There are two no-ops, for neither is the cheaper in everything: health is sent no token and no body, but
its path is compared with those of eight others first; the catalogue is sent both, its path is the first, and its answer
is longer. *CPU* is what the server's process used for a call: other work on the machine alters it least.
""".strip()
PURCHASES = """
One client buys one value after the other; between two purchases this process commits one row of 400 bytes to the same
store, synced like the ledger: another SQLite file in the same folder, another table of the same PostgreSQL. A purchase
is timed by its client, over HTTP, with its signed receipt; p99 beside p99.
""".strip()

BareCommit = Callable[[], object]


def chapter(folder: Path, *, small: bool) -> str:
    rows = 20_000 if small else 345_000
    path = data.file(folder, rows, 29, 0.0, "parquet")
    most = 300 if small else 3_000
    bought = ["| store | purchase: median, p99 | bare commit: median, p99 | p99's ratio | target |"]
    bought += ["| --- | --- | --- | --- | --- |"]
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        serving(path, Path(place), "sqlite:///ledger.db") as server,
        measure.BareCommits(Path(place) / "bare.db") as bare,
    ):
        quotes = list(_quotes(server, path, 9 if small else 99))
        batches = list(_batches(server, path, 2 if small else 7))
        bought.append(_purchases("SQLite", server, path, bare, most))
    bought.append(_in_postgres(folder, path, most))
    return "\n".join(
        ["## The service", "", INTRODUCTION, "", *quotes, "", *batches, "", PURCHASES, "", *bought],
    )


def _quotes(server: Server, path: Path, turns: int) -> Iterator[str]:
    """All kinds of calls in turn, over the same connections; a turn is short, so that noise seldom hits one alone."""
    asked = provider.requests(provider.tuples(path, provider.KEY, DISTINCT))
    bodies = [_quotes_body([_request(one)]) for one in asked]
    sent = {
        HEALTH: [b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"] * DISTINCT,
        CATALOGUE: [server.call("GET /v1/catalogue", body=body) for body in bodies],
        QUOTE: [server.call("POST /v1/quotes", body=body) for body in bodies],
        LADDER: [server.call("POST /v1/quotes", body=_quotes_body([_at_all_levels(one)])) for one in asked],
    }
    rates: dict[str, list[float]] = {name: [] for name in sent}
    cpu: dict[str, list[float]] = {name: [] for name in sent}
    connections = [server.connection() for _ in range(CONNECTIONS)]
    for turn in range(turns + 1):
        begin = turn * TURN % DISTINCT
        for name, prepared in sent.items():
            calls, before = prepared[begin : begin + TURN], server.cpu()
            took = measure.seconds(partial(_pour, connections, calls))
            if turn:
                rates[name].append(TURN / took)
                cpu[name].append((server.cpu() - before) / TURN * 1e6)
    for connection in connections:
        connection.close()
    yield "| call | calls/s | of health's | of the catalogue's | server's CPU a call | target |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, what in CALLS.items():
        ratios = (statistics.median(np.divide(rates[name], rates[other])) for other in (HEALTH, CATALOGUE))
        yield (
            f"| {what} | {statistics.median(rates[name]):,.0f} | {' | '.join(f'{ratio:.0%}' for ratio in ratios)} "
            f"| {statistics.mean(cpu[name]):.0f} µs | {'≥ 70% of health' if name == QUOTE else ''} |"
        )
    health, catalogue = (statistics.mean(cpu[name]) / statistics.mean(cpu[QUOTE]) for name in (HEALTH, CATALOGUE))
    yield ""
    yield f"By CPU alone, a quote could be asked for {health:.0%} as often as health, {catalogue:.0%} as the catalogue."


def _pour(connections: Sequence[Connection], calls: Sequence[bytes]) -> None:
    """Make calls as fast as they are answered, one at a time on each connection."""
    most = len(connections)
    for connection, call in zip(connections, calls, strict=False):
        connection.send(call)
    for i in range(len(calls)):
        connection = connections[i % most]
        connection.receive()
        if i + most < len(calls):
            connection.send(calls[i + most])


def _batches(server: Server, path: Path, repeats: int) -> Iterator[str]:
    """All levels of many tuples in one call; the answer is received whole, and not read."""
    yield "| batch, all levels, one call after the other | bytes sent, received | (request, level) pairs/s | target |"
    yield "| --- | --- | --- | --- |"
    for what, make, most in (("JSON", _json_batch, 10_000), ("Arrow", _arrow_batch, 100_000)):
        columns = provider.tuples(path, provider.KEY, most)
        asked = len(columns[provider.KEY[0]])
        call = make(server, columns)
        with closing(server.connection()) as connection:
            received = len(connection.ask(call))
            took = measure.medians({"": partial(connection.ask, call)}, repeats)[""]
        yield (
            f"| {what}, {asked:,} tuples | {len(call) / 1e6:.1f} MB, {received / 1e6:.1f} MB "
            f"| {asked * (provider.HEIGHT + 1) / took:,.0f} | ≥ 50,000 |"
        )


def _json_batch(server: Server, columns: dict[str, list[str]]) -> bytes:
    requests = [_at_all_levels(request) for request in provider.requests(columns)]
    return server.call("POST /v1/quotes", body=_quotes_body(requests))


def _arrow_batch(server: Server, columns: dict[str, list[str]]) -> bytes:
    table, stream = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return server.call("POST /v1/quotes/drug", ARROW, stream.getvalue().to_pybytes())


def _purchases(store: str, server: Server, path: Path, bare: BareCommit, most: int) -> str:
    """Purchases that are not refused, and as many bare commits, in turn."""
    asked = iter(provider.requests(provider.tuples(path, provider.KEY, 20 * most), level=2))
    keys = count()
    taken: list[float] = []
    commits: list[float] = []
    with closing(server.connection()) as connection:
        while len(taken) < most:
            body = json.dumps({"request": _request(next(asked)), "ceiling": provider.HIGH}).encode()
            call = server.call("POST /v1/purchases", body=body, key=f"purchase {next(keys)}")
            commit = measure.seconds(bare)
            start = time.perf_counter()
            answer = connection.ask(call)
            took = time.perf_counter() - start
            if b'"receipt"' in answer:
                taken.append(took)
                commits.append(commit)
    (median, p99), (bare_median, bare_p99) = (np.percentile(each, (50, 99)) * 1000 for each in (taken, commits))
    return (
        f"| {store}, {most:,} purchases | {median:.2f} ms, {p99:.2f} ms | {bare_median:.2f} ms, {bare_p99:.2f} ms "
        f"| {p99 / bare_p99:.2f} | ≤ 5 |"
    )


def _in_postgres(folder: Path, path: Path, most: int) -> str:
    """The same in PostgreSQL, if there is one."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import postgres
    import pytest

    try:
        with postgres_url() as url, tempfile.TemporaryDirectory(dir=folder) as place:
            ledger = f"bench_{os.getpid()}"
            try:
                with (
                    serving(path, Path(place), f"{url}{'&' if '?' in url else '?'}ledger={ledger}") as server,
                    _bare_postgres(url, ledger) as bare,
                ):
                    return _purchases("PostgreSQL", server, path, bare, most)
            finally:
                postgres.run(url, f"DROP SCHEMA IF EXISTS {ledger} CASCADE")
    except (ImportError, pytest.skip.Exception) as missing:
        return f"| PostgreSQL | not measured: {missing} | | | ≤ 5 |"


@contextmanager
def postgres_url() -> Iterator[str]:
    """The PostgreSQL that PACAS_POSTGRES names, or a private cluster that syncs what it commits."""
    import postgres

    if given := os.environ.get("PACAS_POSTGRES"):
        yield given
    else:
        with postgres.running_cluster(fsync="on") as cluster:
            yield cluster.url


@contextmanager
def _bare_postgres(url: str, schema: str) -> Iterator[BareCommit]:
    """A table beside the ledger's; a call inserts one row in a transaction of its own, in one round trip."""
    import psycopg

    with closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute(f"CREATE TABLE {schema}.bare (n BIGSERIAL PRIMARY KEY, details TEXT)".encode())
        statement = f"INSERT INTO {schema}.bare (details) VALUES (%s)".encode()
        yield lambda: connection.execute(statement, ("x" * 400,))


def _request(request: Request) -> dict[str, object]:
    return {"tuple": request.tuple, "attribute": request.attribute, "level": request.level}


def _at_all_levels(request: Request) -> dict[str, object]:
    return {"tuple": request.tuple, "attribute": request.attribute}


def _quotes_body(requests: list[dict[str, object]]) -> bytes:
    return json.dumps({"requests": requests}).encode()
