"""The service under load: a minute of mixed calls, and what one account's calls do to another's."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count, cycle
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import data
import numpy as np
import provider
import pyarrow as pa
from served import Connection, Server, serving

from pacas.provider.ledger.accounts import Role
from pacas.wire.shapes.base import ARROW

ACCOUNTS = {"quiet": Role.CLIENT, "loud": Role.CLIENT, "refine": Role.RECONCILE}
FUZZY = "age = age, status ~ status jaro_winkler 0.9, gender = gender, timeframe ~ timeframe edit 0.8"
MANY, SOME = 16, 4
"""Connections of a loud account: with small calls, and with large ones."""
PAUSE = 0.002
"""Seconds that a quiet client thinks between two calls."""
MIX = ("quote",) * 16 + ("ladder", "ladder", "purchase", "page")
"""What a client of the mixed load does, in turn."""
CLIENTS = 8
INTRODUCTION = f"""
`pacas serve` in a process of its own with the limits that it has if nobody says otherwise, its clients in others.
*Mixed*: {CLIENTS} clients of two accounts, each on a connection that is kept and with {PAUSE * 1000:.0f} ms between its
calls, make one purchase and ask for a page of the account's purchases beside {MIX.count("quote")} quotes and
{MIX.count("ladder")} of all levels. *Beside*: a quiet account asks for quotes, and buys now and then, first alone and
then while another account calls as fast as it is answered; p99 beside p99, the quiet account's own.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows, seconds = (3_000, 2.0) if small else (100_000, 60.0)
    path = data.file(folder, rows, 29, 0.0, "parquet")
    lines: list[str] = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        (Path(place) / "exact").mkdir()
        (Path(place) / "fuzzy").mkdir()
        with _served(path, Path(place) / "exact") as server:
            lines += [
                *_mixed(server, path, seconds),
                "",
                *_beside(server, path, _loud_calls(server, path), seconds / 12),
            ]
        with _served(path, Path(place) / "fuzzy", FUZZY) as server:
            lines += list(_beside(server, path, _fuzzy_calls(server, path), seconds / 12))[2:]
    return "\n".join([f"## Under load, {rows:,} rows", "", INTRODUCTION, "", *lines])


@contextmanager
def _served(path: Path, folder: Path, match: str = "") -> Iterator[Server]:
    with serving(
        path, folder, "sqlite:///ledger.db", match=match, service="reconcile = true", accounts=ACCOUNTS
    ) as server:
        yield server


# ---- a minute of mixed calls ----------------------------------------------------------------------------------------


def _mixed(server: Server, path: Path, seconds: float) -> Iterator[str]:
    calls = _Calls(server, path)
    taken: dict[str, list[float]] = {kind: [] for kind in MIX}
    failed: Counter[str] = Counter()

    def client(number: int) -> None:
        who = ("quiet", "loud")[number % 2]
        with closing(server.connection()) as connection:
            for kind in cycle(MIX):
                if time.monotonic() > end:
                    return
                call = calls.make(kind, who)
                begin = time.perf_counter()
                try:
                    connection.ask(call)
                except AssertionError:
                    failed[kind] += 1
                    return
                taken[kind].append(time.perf_counter() - begin)
                time.sleep(PAUSE)

    end = time.monotonic() + seconds
    threads = [Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield f"| mixed, {seconds:.0f} s | calls | p50 | p99 | p99 / p50 | target | errors |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: |"
    for kind, times in taken.items():
        half, most = np.percentile(times, (50, 99)) * 1000
        target = "≤ 20" if kind == "quote" else ""
        line = f"| {kind} | {len(times):,} | {half:.2f} ms | {most:.2f} ms | {most / half:.1f} | {target} "
        yield f"{line}| {failed[kind]} |"


class _Calls:
    """Calls about tuples that are there, each about another."""

    def __init__(self, server: Server, path: Path) -> None:
        self._server, self._number = server, count()
        columns = provider.tuples(path, provider.KEY, 50_000)
        self._rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def rows(self, most: int) -> list[dict[str, str]]:
        return [row for row, _ in zip(cycle(self._rows), range(most), strict=False)]

    def make(self, kind: str, who: str) -> bytes:
        number = next(self._number)
        request = {"tuple": self._rows[number % len(self._rows)], "attribute": "drug", "level": 2}
        call, key = self._server.call, f"{os.getpid()} {number}"
        match kind:
            case "page":
                return call("GET /v1/account?limit=20", who=who)
            case "purchase":
                body = json.dumps({"request": request, "ceiling": provider.HIGH}).encode()
                return call("POST /v1/purchases", body=body, key=key, who=who)
            case "ladder":
                del request["level"]
        return call("POST /v1/quotes", body=json.dumps({"requests": [request]}).encode(), who=who)


# ---- one account beside another -------------------------------------------------------------------------------------

Loud = Mapping[str, tuple[Sequence[bytes], int]]
"""By what it is called: calls to make over and over, and on how many connections."""


def _loud_calls(server: Server, path: Path) -> Loud:
    calls, call = _Calls(server, path), server.call
    rows = calls.rows(100_000)
    requests = [{"tuple": row, "attribute": "drug"} for row in rows]
    table, stream = pa.Table.from_pylist(rows), pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    arrow = call("POST /v1/quotes/drug", ARROW, stream.getvalue().to_pybytes(), who="loud")
    batch = _quotes(requests[:90_000])
    numbers = b'{"requests":[' + b"0," * (7 << 20) + b"0]}"
    return {
        "one quote a call": ([calls.make("quote", "loud") for _ in range(5_000)], MANY),
        f"quotes of 100,000 tuples, Arrow, {len(arrow) / 1e6:.0f} MB": ([arrow], SOME),
        f"quotes of 90,000 tuples, JSON, {len(batch) / 1e6:.0f} MB": (
            [call("POST /v1/quotes", body=batch, who="loud")],
            SOME,
        ),
        "quotes of 1,000 tuples, JSON": (
            [
                call("POST /v1/quotes", body=_quotes(requests[at : at + 1000]), who="loud")
                for at in range(0, 50_000, 1000)
            ],
            SOME,
        ),
        f"no quotes, JSON, {len(numbers) / 1e6:.0f} MB": ([call("POST /v1/quotes", body=numbers, who="loud")], SOME),
        "one purchase a call": ([calls.make("purchase", "loud") for _ in range(20_000)], MANY),
        "64 purchases a call": ([_run(server, rows, at, 64) for at in range(300)], SOME),
        "2,000 purchases a call": ([_many(server, calls.rows(2_000), number) for number in range(300)], SOME),
        "pages of 1,000 purchases": ([call("GET /v1/account?limit=1000", who="loud")], MANY),
        "1,000 queries for reconciliation": ([_queries(server, rows[:1000])], SOME),
        "50,000 queries for reconciliation": ([_queries(server, rows[:50_000])], SOME),
    }


def _fuzzy_calls(server: Server, path: Path) -> Loud:
    rows = [{**row, "status": row["status"] + "x"} for row in _Calls(server, path).rows(15_000)]
    requests = [{"tuple": row, "attribute": "drug"} for row in rows]
    body = _quotes(requests)
    return {
        f"fuzzy quotes of 15,000 tuples, JSON, {len(body) / 1e6:.1f} MB": (
            [server.call("POST /v1/quotes", body=body, who="loud")],
            SOME,
        ),
        "one fuzzy quote a call": (
            [server.call("POST /v1/quotes", body=_quotes([r]), who="loud") for r in requests],
            MANY,
        ),
        "runs of 16 fuzzy purchases": ([_run(server, rows, at, 16) for at in range(900)], SOME),
        "1,000 fuzzy queries for reconciliation": ([_queries(server, rows[:1000])], SOME),
    }


def _quotes(requests: Sequence[object]) -> bytes:
    return json.dumps({"requests": requests}, separators=(",", ":")).encode()


def _run(server: Server, rows: Sequence[Mapping[str, str]], number: int, size: int) -> bytes:
    run = [{**one, "key": f"{number}/{i}"} for i, one in enumerate(_purchases(rows[number * size :][:size]))]
    return server.call("POST /v1/runs", body=json.dumps({"run": run}).encode(), who="loud")


def _many(server: Server, rows: Sequence[Mapping[str, str]], number: int) -> bytes:
    body = json.dumps({"purchases": _purchases(rows)}).encode()
    return server.call("POST /v1/purchases", body=body, key=f"many {number}", who="loud")


def _purchases(rows: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    return [{"request": {"tuple": row, "attribute": "drug", "level": 2}, "ceiling": provider.HIGH} for row in rows]


def _queries(server: Server, rows: Sequence[Mapping[str, str]]) -> bytes:
    asked = {
        f"q{i}": {"query": "", "properties": [{"pid": name, "v": value} for name, value in row.items()]}
        for i, row in enumerate(rows)
    }
    body = urlencode({"queries": json.dumps(asked, separators=(",", ":"))}).encode()
    path = f"POST /reconcile/{server.tokens['refine']}"
    return server.call(path, "application/x-www-form-urlencoded", body, who="refine")


def _beside(server: Server, path: Path, loud: Loud, seconds: float) -> Iterator[str]:
    calls = _Calls(server, path)
    yield "| another account's calls | quote: alone, beside | ratio | purchase: same | ratio | answers, 200 | target |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | --- |"
    _quiet(server, calls, seconds / 4)
    for what, (prepared, connections) in loud.items():
        alone = _quiet(server, calls, seconds)
        with _calling(server.port, prepared, connections) as told:
            time.sleep(0.5)
            beside = _quiet(server, calls, seconds)
        cells = []
        for before, after in zip(alone, beside, strict=True):
            cells += [f"{before:.2f} ms, {after:.2f} ms", f"{after / before:.1f}"]
        answers = f"{sum(told.values()):,}, {told['200']:,}"
        yield f"| {what}, {connections} connections | {' | '.join(cells)} | {answers} | ≤ 5 |"
        print(what, *cells, answers, file=sys.stderr)


def _quiet(server: Server, calls: _Calls, seconds: float) -> tuple[float, float]:
    """p99 of quotes and of purchases, in ms."""
    taken: dict[str, list[float]] = {"quote": [], "purchase": []}
    end = time.monotonic() + seconds
    with closing(server.connection()) as connection:
        for kind in cycle(("quote",) * 9 + ("purchase",)):
            if time.monotonic() > end and taken["purchase"]:
                break
            call = calls.make(kind, "quiet")
            begin = time.perf_counter()
            connection.ask(call)
            taken[kind].append(time.perf_counter() - begin)
            time.sleep(PAUSE)
    quotes, purchases = (float(np.percentile(times, 99)) * 1000 for times in taken.values())
    return quotes, purchases


@contextmanager
def _calling(port: int, calls: Sequence[bytes], connections: int) -> Iterator[Counter[str]]:
    """A loud account's process; what it was answered, when it has ended. It does not take the others' processors."""
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "calls"
        path.write_bytes(pickle.dumps((port, calls, connections)))
        command = ["nice", "-n", "10", sys.executable, __file__, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            try:
                yield told
            finally:
                process.stdin.close()
                told.update(json.loads(process.stdout.readline()))


def _call_for_ever(path: Path) -> None:
    """Call until nobody listens any more; what is refused is asked again, a moment later."""
    port, calls, connections = pickle.loads(path.read_bytes())  # which `_calling` has written
    told: Counter[str] = Counter()

    def client(number: int) -> None:
        for at in count(number, connections):
            with closing(Connection(port)) as connection:
                for call in (calls[place % len(calls)] for place in count(at, connections)):
                    try:
                        connection.ask(call)
                        told["200"] += 1
                    except AssertionError as error:
                        told[str(error)[11:14]] += 1
                        time.sleep(0.05)
                        break
                    except OSError:
                        told["hung up"] += 1
                        break

    for number in range(connections):
        Thread(target=client, args=(number,), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    print(json.dumps(told), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _call_for_ever(Path(sys.argv[1]))
