"""Sales of several clients and of several processes on one ledger: what a commit that is shared brings."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import count, cycle, islice, product
from pathlib import Path
from threading import Thread
from typing import cast

import data
import provider as provider_figures
import pytest
from served import Server, serving
from service import postgres_url

from pacas.protocol.messages import Payment, Request
from pacas.provider.ledger.accounts import Role
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.storage.url import open_ledger

CLIENTS, PROCESSES = (1, 16), (1, 2, 4)
SLOW = 0.005
"""Seconds that a sync takes on many a disk, and on those of clouds."""
DELAYING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int later(const char *name, int file) {
    struct timespec wait = {0, NANOSECONDS};
    nanosleep(&wait, 0);
    return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return later("fsync", file); }
int fdatasync(int file) { return later("fdatasync", file); }
"""
INTRODUCTION = f"""
Clients that sell one value after the other, each in a thread that calls `Provider.sell`; processes share one ledger,
and each takes in what the others sell. The paper's quotes, in memory. Every sale is durable before it is answered.
*Of one client* is against one process with one client on the same store and disk, *a process* against one process with
as many clients. *As it is*: the disk of this machine. *{SLOW * 1000:.0f} ms*: every sync, of SQLite and of PostgreSQL,
takes so much longer, as on disks that keep what they say they keep. A ledger is one chain. On SQLite a commit waits for
the one before it to be durable, and a process sells some values in a row before another's turn; on PostgreSQL processes
wait for the disk beside each other, and what bounds them is PostgreSQL's own: a commit that comes while the log is
written waits for that, and then for its own (*one row*: so many connections that insert one row after the other, and
nothing else). Where a sync takes little, clients, processes and PostgreSQL share the machine's processors.
""".strip()

SHARES = """
Where it goes, in processor time of the process that sells, which other work on the machine alters least: what is more
than *in memory* is SQLite's and the sync's, and is shared by all in a commit; over HTTP a purchase is signed besides,
and a commit's head once. One thread makes all these sales: by the clock, so many in a commit are what sharing it gives.
Clients in threads of one process take more than that, as each must have Python's interpreter handed over to it for
each sale, and back.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows, seconds = (500, 0.5) if small else (32_561, 3.0)
    folder.mkdir(parents=True, exist_ok=True)
    others = os.getloadavg()[0]
    lines = [
        "| store | a sync | processes | clients of each | sales/s | of one client | a process | target |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for store, ledgers in (("SQLite", _files), ("PostgreSQL", _schemas)):
        for sync, delay in (("as it is", 0.0), (f"{SLOW * 1000:.0f} ms", SLOW)):
            try:
                with _delayed_syncs(delay):
                    lines += _lines(f"{store} | {sync}", ledgers(), folder, rows, seconds)
                    if ledgers is _schemas:
                        lines += _plain_lines(f"{store}, one row | {sync}", seconds)
            except (ImportError, pytest.skip.Exception) as missing:
                lines.append(f"| {store} | {sync} | not measured: {missing} | | | | | |")
    shares = [
        SHARES,
        "",
        "| a sale | CPU | by the clock |",
        "| --- | ---: | ---: |",
        *_shares(folder, rows, 320 if small else 3_200),
    ]
    beside = f"When it began, {others:.0f} others wanted the machine's {os.cpu_count()} processors (load average)."
    return "\n".join([f"## Shared commits, {rows:,} rows", "", INTRODUCTION, beside, "", *lines, "", *shares])


def _shares(folder: Path, rows: int, sales: int) -> Iterator[str]:
    """Processor time of sales, by how much of the way they go."""
    keys = count()

    def orders(most: int) -> list[tuple[Payment, str, None]]:
        return [
            (Payment(Request({"ID": str(key % rows)}, "V", 0), 10**15, str(key)), "local", None)
            for key in islice(keys, most)
        ]

    def each(sell: Callable[[], object], most: int = sales) -> str:
        start, begun = time.process_time(), time.monotonic()
        sell()
        taken = (time.process_time() - start, time.monotonic() - begun)
        return " | ".join(f"{seconds / most * 1e6:.0f} µs" for seconds in taken) + " |"

    def in_commits_of(provider: Provider, size: int) -> None:
        for _ in range(sales // size):
            provider.till.sell_each(orders(size))

    with tempfile.TemporaryDirectory(dir=folder) as place, ExitStack() as stack:
        stores = [stack.enter_context(closing(open_ledger("sqlite:///ledger.db", Path(place)))) for _ in range(2)]
        memory, one, other = (_provider(ledger, rows) for ledger in (MemoryLedger(), *stores))
        yield f"| judged and entered, in memory | {each(lambda: in_commits_of(memory, 1))}"
        yield f"| in SQLite, 16 in a commit | {each(lambda: in_commits_of(one, 16))}"
        yield f"| in SQLite, each in its own | {each(lambda: in_commits_of(one, 1))}"
        yield f"| of another process, taken in | {each(other.refresh, 2 * sales)}"
    yield from _served_shares(folder, sales // 2)


def _served_shares(folder: Path, sales: int) -> Iterator[str]:
    """Of `pacas serve`: with its HTTP, JSON, account, log line and signed receipt."""
    path = data.file(folder, 20_000, 29, 0.0, "parquet")
    columns = provider_figures.tuples(path, provider_figures.KEY, 2 * sales)
    tuples = cycle([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])
    keys, names = count(), ("ann", "bob", "carl", "dora")
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        serving(path, Path(place), "sqlite:///ledger.db", accounts=dict.fromkeys(names, Role.CLIENT)) as server,
    ):
        for clients in CLIENTS:
            calls = [
                server.call(
                    "POST /v1/purchases",
                    body=json.dumps(
                        {"request": {"tuple": one, "attribute": "drug", "level": 2}, "ceiling": provider_figures.HIGH}
                    ).encode(),
                    key=str(key),
                    who=names[key % len(names)],
                )
                for key, one in zip(islice(keys, sales), tuples, strict=False)
            ]
            before, begun = server.cpu(), time.monotonic()
            _together(lambda which: _ask_all(server, calls[which::clients]), clients)  # noqa: B023
            rate = sales / (time.monotonic() - begun)
            cpu = (server.cpu() - before) / sales * 1e6
            yield f"| over HTTP from {clients} clients, {rate:,.0f} a second | {cpu:.0f} µs | {1e6 / rate:.0f} µs |"


def _ask_all(server: Server, calls: Sequence[bytes]) -> None:
    with closing(server.connection()) as connection:
        for call in calls:
            connection.ask(call)


def _provider(ledger: Ledger, rows: int) -> Provider:
    table = {"ID": [str(row) for row in range(rows)], "V": [str(row % 50) for row in range(rows)]}
    return Provider(table, match={"V": "ID = ID"}, total=rows, seed=1, ledger=ledger)


@contextmanager
def _delayed_syncs(seconds: float) -> Iterator[None]:
    """Processes that are started inside wait so long before they sync."""
    compiler = shutil.which("cc")
    if not seconds:
        yield
        return
    if compiler is None or sys.platform != "linux":
        pytest.skip("syncs are delayed on Linux, with a C compiler")
    with tempfile.TemporaryDirectory() as place:
        source, library = Path(place) / "delay.c", Path(place) / "delay.so"
        source.write_text(DELAYING.replace("NANOSECONDS", f"{seconds * 1e9:.0f}"))
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        Path(place).chmod(0o755)  # PostgreSQL runs as somebody else
        os.environ["LD_PRELOAD"] = str(library)
        try:
            yield
        finally:
            del os.environ["LD_PRELOAD"]


def _lines(store: str, ledgers: Iterator[str], folder: Path, rows: int, seconds: float) -> Iterator[str]:
    sold: dict[tuple[int, int], float] = {}
    with closing(cast("Generator[str]", ledgers)):
        for (processes, clients), url in zip(product(PROCESSES, CLIENTS), ledgers, strict=False):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                now = sold[processes, clients] = _measure(url, Path(place), rows, seconds, processes, clients)
            of_one, each = now / sold[1, 1], now / processes / sold[1, clients]
            cells = f"{processes} | {clients} | {now:,.0f} | {of_one:.2f} | {each:.2f}"
            yield f"| {store} | {cells} | {_target(store, processes, clients)} |"
            print(store, cells, file=sys.stderr)


def _plain_lines(store: str, seconds: float) -> Iterator[str]:
    """What PostgreSQL makes durable by itself."""
    import psycopg

    def insert(url: str, begun: float, which: int) -> None:
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            while time.monotonic() - begun < seconds:
                connection.execute("INSERT INTO plain VALUES (1)")
                made[which] += 1

    with postgres_url() as url, closing(psycopg.connect(url, autocommit=True)) as first:
        first.execute("CREATE TABLE plain (one BIGINT)")
        alone = 0.0
        for connections in PROCESSES:
            made, begun = [0] * connections, time.monotonic()
            _together(lambda which: insert(url, begun, which), connections)  # noqa: B023
            now = sum(made) / (time.monotonic() - begun)
            alone = alone or now
            yield f"| {store} | {connections} |  | {now:,.0f} |  | {now / connections / alone:.2f} |  |"
        first.execute("DROP TABLE plain")


def _together(work: Callable[[int], None], count: int) -> None:
    threads = [Thread(target=work, args=(which,)) for which in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _target(store: str, processes: int, clients: int) -> str:
    if processes == 1:
        return "≥ 4 of one client" if clients > 1 else ""
    return f"≥ {1 / processes:.2f} a process" if store.startswith("SQLite") else "≥ 0.9 a process"


def _files() -> Iterator[str]:
    while True:
        yield "sqlite:///ledger.db"


def _schemas() -> Iterator[str]:
    """New ledgers in a PostgreSQL that ends with them."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    with postgres_url() as url:
        for number in count():
            yield f"{url}{'&' if '?' in url else '?'}ledger=bench_{os.getpid()}_{number}"


def _measure(url: str, folder: Path, rows: int, seconds: float, processes: int, clients: int) -> float:
    """Sales a second of all together, from the moment at which all are ready."""
    started = [
        subprocess.Popen(
            [
                sys.executable,
                __file__,
                url,
                str(folder),
                str(rows),
                str(seconds),
                str(number),
                str(processes),
                str(clients),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for one in started:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    return sum(json.loads(one.communicate()[0]) for one in started)


def _sell(url: str, folder: Path, rows: int, seconds: float, number: int, processes: int, clients: int) -> None:
    """One process: what it sold a second."""
    with closing(open_ledger(url, folder)) as ledger:
        provider = _provider(ledger, rows)
        gc.collect()
        gc.freeze()  # as a service does when it begins
        print("ready", flush=True)
        sys.stdin.readline()
        begun, sold = time.monotonic(), [0] * clients

        def client(which: int) -> None:
            row = number * clients + which
            while time.monotonic() - begun < seconds:
                provider.sell(Request({"ID": str(row % rows)}, "V", 0), 10**15, f"{number}/{which}/{row}")
                row += processes * clients
                sold[which] += 1

        _together(client, clients)
        print(sum(sold) / (time.monotonic() - begun))
        gc.unfreeze()


if __name__ == "__main__":
    _sell(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), *map(int, sys.argv[5:8]))
