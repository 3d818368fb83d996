"""Sales of several clients and of several processes on one ledger: what a commit that is shared brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Thread

import pytest
from service import postgres_url

from pacas.protocol.messages import Request
from pacas.provider.provider import Provider
from pacas.storage.url import open_ledger

SETTINGS = ((1, 1), (1, 16), (2, 1), (2, 16), (4, 1), (4, 16))
"""Processes, and the clients of each."""
INTRODUCTION = """
Clients that sell one value after the other, each in a thread that calls `Provider.sell`; processes share one ledger,
and each takes in what the others sell. The paper's quotes, in memory. Every sale is durable before it is answered.
Ratios are to one process with one client on the same store.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    rows, seconds = (500, 0.5) if small else (32_561, 8.0)
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["| store | processes | clients of each | sales/s | ratio |", "| --- | ---: | ---: | ---: | ---: |"]
    for store, ledgers in (("SQLite", _files()), ("PostgreSQL", _schemas())):
        try:
            lines += _lines(store, ledgers, folder, rows, seconds)
        except (ImportError, pytest.skip.Exception) as missing:
            lines.append(f"| {store} | not measured: {missing} | | | |")
    return "\n".join([f"## Shared commits, {rows:,} rows", "", INTRODUCTION, "", *lines])


def _lines(store: str, ledgers: Iterator[str], folder: Path, rows: int, seconds: float) -> Iterator[str]:
    alone = 0.0
    for (processes, clients), url in zip(SETTINGS, ledgers, strict=False):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            sold = _measure(url, Path(place), rows, seconds, processes, clients)
        alone = alone or sold
        yield f"| {store} | {processes} | {clients} | {sold:,.0f} | {sold / alone:.2f} |"


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
    table = {"ID": [str(row) for row in range(rows)], "V": [str(row % 50) for row in range(rows)]}
    with closing(open_ledger(url, folder)) as ledger:
        provider = Provider(table, match={"V": "ID = ID"}, total=rows, seed=1, ledger=ledger)
        print("ready", flush=True)
        sys.stdin.readline()
        begun, sold = time.monotonic(), [0] * clients

        def client(which: int) -> None:
            row = number * clients + which
            while time.monotonic() - begun < seconds:
                provider.sell(Request({"ID": str(row % rows)}, "V", 0), 10**15, f"{number}/{which}/{row}")
                row += processes * clients
                sold[which] += 1

        threads = [Thread(target=client, args=(which,)) for which in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sum(sold) / (time.monotonic() - begun))


if __name__ == "__main__":
    _sell(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), *map(int, sys.argv[5:8]))
