"""Opening over many entries, from a table so small that they are nearly all there is to do."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import cycle, islice
from pathlib import Path

import data
import provider

from pacas.protocol.messages import Payment
from pacas.storage.sqlite.ledger import SqliteLedger

ROWS = 1_000
INTRODUCTION = """
The provider above over a table of few rows, opened anew: seconds of this process's CPU, as others run beside it, the
median of five. A *checkpoint* is what the provider kept and signed of the entries before. The ledger's file is opened
with it, and SQLite looks through all of it for damage; `pacas audit` reads the whole chain.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    entries = 2_000 if small else 100_000
    path = data.file(folder, ROWS, 29, 0.0, "parquet")
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        ExitStack() as stack,
    ):

        def opened() -> SqliteLedger:
            return stack.enter_context(closing(SqliteLedger(Path(place) / "ledger.db")))

        ledger = opened()
        shop = provider.open_provider(path, ledger=ledger)
        root = shop.catalogue()["drug"].hierarchy.height
        requests = cycle(provider.requests(provider.tuples(path, provider.KEY, ROWS), level=root))
        with ledger.transaction():  # one commit for all: this is not what is measured
            for number, request in enumerate(islice(requests, entries)):
                shop.till.sell_many([Payment(request, 0, str(number))], buyer=f"buyer {number % 10}")
        assert ledger.head().entries == entries + 1
        taken: list[list[float]] = [[], [], []]
        ways = provider.openings(path, opened, Path(place))
        for _ in range(5):
            for times, way in zip(taken, ways, strict=True):
                times.append(_cpu(way))
    whole, kept, none = map(statistics.median, taken)
    lines = [
        "| opening | CPU | target |",
        "| --- | ---: | --- |",
        f"| over {entries:,} entries, from a checkpoint | {kept:.2f} s | ≤ 1 s |",
        f"| the same without one: all are read | {whole:.2f} s | |",
        f"| over none | {none:.2f} s | |",
    ]
    return "\n".join([f"## Opening, {ROWS:,} rows", "", INTRODUCTION, "", *lines])


def _cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
