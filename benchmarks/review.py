"""What a page of a review costs: processor time of the program for one screen of a large table."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pacas.client.safe_clean import SafeClean
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.relations.relations import scan_relation
from pacas.protocol.marketplace import NobodySells
from pacas.review.app import ReviewConsole
from pacas.review.job import ReviewJob, opened_once
from pacas.review.session import ReviewSession
from pacas.review.views.repairs import undo

ROWS = 1_000_000
COLUMNS = 12
AGAIN = 9


def chapter(folder: Path, *, small: bool) -> str:
    rows = ROWS // 50 if small else ROWS
    lines = [
        "## A review's pages",
        "",
        f"One screen (50 rows) of a table of {rows:,} rows and {COLUMNS} columns, 2% of whose groups of four disagree: "
        f"processor time of the program in ms, the median of {AGAIN}, all that a request takes (routing, engine, "
        "template); the target is 200. A text that is nowhere is looked for in stretches: the figure is of one "
        "request, and of all requests until the whole table is looked through. After all repairs are "
        "undone, the first page works out anew what is written; the violations that are left are counted beside it.",
        "",
    ]
    heads = (
        "first",
        "last",
        "of a kind",
        "a row",
        "a cell's story",
        "a frequent text",
        "a rare text",
        "… the whole table",
        "repairs",
        "all undone: table",
        "… repairs",
        "… the count beside",
    )
    lines += ["| the table is | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for kind in ("csv", "parquet"):
        with tempfile.TemporaryDirectory() as scratch:
            found = _measured(Path(scratch), kind, rows)
        lines.append(f"| {kind} | " + " | ".join(f"{ms:,.0f}" for ms in found) + " |")
    return "\n".join(lines) + "\n"


def _table(rows: int) -> pa.Table:
    chance = np.random.default_rng(7)
    group = np.arange(rows) // 4
    b = np.char.add("b", (group % 997).astype(str))
    wrong = chance.random(rows) < 0.005
    b[wrong] = "other"
    columns: dict[str, Any] = {
        "ID": np.char.add("id", np.arange(rows).astype(str)),
        "A": np.char.add("a", group.astype(str)),
        "B": b,
    }
    for number in range(COLUMNS - len(columns)):
        columns[f"C{number}"] = np.char.add(f"value {number} ", (np.arange(rows) * 7919 % 10_007).astype(str))
    return pa.table(columns)


def _measured(folder: Path, kind: str, rows: int) -> list[float]:
    path = folder / f"table.{kind}"
    table = _table(rows)
    pyarrow.csv.write_csv(table, path) if kind == "csv" else pyarrow.parquet.write_table(table, path)
    engine, source = opened_once(DuckEngine()), scan_relation(path)
    cleaner = SafeClean("A -> B", 0)
    session = ReviewSession(
        ReviewJob(
            source=source,
            cleaner=cleaner,
            choices=cleaner.choices,
            output=folder / f"out.{kind}",
            journal=folder / "out.journal",
            key=(),
            engine=engine,
            digest="",
            marketplace=NobodySells(),
            buyer="bench",
            credit=None,
            receipts={},
            receipts_folder=None,
            verify=None,
            command="",
        )
    )
    session.start()
    while not (session.outlook.marks and session.outlook.is_current and session.run.state == "done"):
        time.sleep(0.2)
    console = ReviewConsole(session)
    client = _Client(console)
    last = -(-rows // 50)
    addresses = [
        "/table/rows?page=1",
        f"/table/rows?page={last}",
        "/table/rows?look=standing_out&page=3",
        f"/table/rows?row={rows // 2}",
        f"/cell?row={_wrong(session)}&attribute=B",
        "/table/rows?q=value",
        "/table/rows?q=nowhere",
    ]
    found = [statistics.median(_cpu(client, address) for _ in range(AGAIN)) for address in addresses]
    whole, look_on = 0.0, "/table/rows?q=nowhere"
    while look_on:
        whole += _cpu(client, look_on)
        text = client.last
        look_on = (
            text.split('hx-get="/table/rows/on?')[1].split('"')[0].replace("&amp;", "&") if "/rows/on?" in text else ""
        )
        look_on = f"/table/rows/on?{look_on}" if look_on else ""
    found += [
        whole,
        statistics.median(_cpu(client, "/repairs") for _ in range(AGAIN)),
        *_after_an_edit(session, client),
    ]
    session.close()
    engine.close()
    return found


def _after_an_edit(session: ReviewSession, client: _Client) -> list[float]:
    """The first pages after all of an attribute is undone, and what is counted beside them, each for itself."""
    outlook = session.outlook
    counts, outlook._uncounted = outlook._uncounted, lambda: None
    undo(session, {"whose": "attribute", "attribute": "B"})
    found = [_cpu(client, "/table"), _cpu(client, "/repairs")]
    assert "being counted" in client.last
    outlook._uncounted = counts
    begin = time.process_time()
    session.changed()
    while (written := session.written()) is None or written.violations is None:
        time.sleep(0.02)
    return [*found, 1000 * (time.process_time() - begin)]


def _wrong(session: ReviewSession) -> int:
    assert session.outlook.marks is not None
    return int(session.outlook.marks.standing_out[0])


class _Client:
    """Asks the application in this process, as a browser that has the key."""

    def __init__(self, console: ReviewConsole) -> None:
        cookies = {"pacas-review-80": console.door.key}
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(console.door), base_url="http://127.0.0.1", cookies=cookies
        )
        self._loop = asyncio.new_event_loop()
        self.last = ""

    def get(self, address: str) -> None:
        answer = self._loop.run_until_complete(self._http.get(address))
        assert answer.status_code == 200, answer.text
        self.last = answer.text


def _cpu(client: _Client, address: str) -> float:
    begin = time.process_time()
    client.get(address)
    return 1000 * (time.process_time() - begin)
