"""What a page of a review costs: processor time of the program for one screen of a large table."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
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
from pacas.review.views.repairs import keep, pin, undo

ROWS = 1_000_000
COLUMNS = 12
AGAIN = 9


PAGES = (
    ("first", "/table/rows?page=1"),
    ("last", "/table/rows?page={last}"),
    ("of a kind", "/table/rows?look=standing_out&page=3"),
    ("a row", "/table/rows?row={middle}"),
    ("a cell's story", "/cell?row={wrong}&attribute=B"),
    ("a frequent text", "/table/rows?q=value"),
    ("a rare text", "/table/rows?q=nowhere"),
)
NEXT = ("/table", "/repairs", "/cell?row={wrong}&attribute=B")
"""The pages that are looked at after an edit."""
EDITS: dict[str, Callable[[ReviewSession, str], str]] = {
    "undo a class": lambda session, row: undo(session, {"whose": "class", "attribute": "B", "row": row}),
    "pin a class": lambda session, row: pin(session, {"whose": "class", "attribute": "B", "row": row, "value": "x"}),
    "keep a cell": lambda session, row: keep(session, {"attribute": "B", "row": row}),
    "keep all": lambda session, row: keep(session, {"whose": "attribute", "attribute": "B"}),
    "undo all": lambda session, row: undo(session, {"whose": "attribute", "attribute": "B"}),
}


def chapter(folder: Path, *, small: bool) -> str:
    rows = ROWS // 50 if small else ROWS
    lines = [
        "## A review's pages",
        "",
        f"One screen (50 rows) of a table with {COLUMNS} columns, so many of whose cells are wrong: "
        f"processor time of the program in ms, the median of {AGAIN}, all that a request takes (routing, engine, "
        "template); the target is 200. A text that is nowhere is looked for in stretches: the figure is of one "
        "request, and of all requests until the whole table is looked through.",
        "",
    ]
    heads = (*(name for name, _ in PAGES), "… the whole table", "repairs")
    lines += ["| rows | wrong | " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * len(heads)]
    after = [
        "",
        "After an edit the next pages work out anew what is written: the table, the repairs, and a cell's story, each "
        "the first of its kind after the edit, edits one on top of the other (all of an attribute are kept, then "
        "undone). The violations that are left are counted beside them, for which no page waits.",
        "",
        "| rows | wrong | " + " | ".join(f"{name}: table, repairs, story" for name in EDITS) + " | the count beside |",
        "| --- | --- |" + " ---: |" * (len(EDITS) + 1),
    ]
    for kind, count, wrong in (("csv", rows, 0.005), ("parquet", rows, 0.005), ("parquet", rows, 0.05)):
        with tempfile.TemporaryDirectory() as scratch:
            pages, edits = _measured(Path(scratch), kind, count, wrong)
        named = f"| {count:,} ({kind}) | {wrong:.1%} | "
        lines.append(named + " | ".join(f"{ms:,.0f}" for ms in pages) + " |")
        after.append(named + " | ".join(", ".join(f"{ms:,.0f}" for ms in found) for found in edits) + " |")
    return "\n".join([*lines, *after]) + "\n"


def larger(folder: Path, *, small: bool) -> str:
    """The same pages of a table ten times as long, with fewer columns."""
    rows = 10 * (ROWS // 50 if small else ROWS)
    with tempfile.TemporaryDirectory() as scratch:
        pages, edits = _measured(Path(scratch), "parquet", rows, 0.005, columns=5)
    heads = (*(name for name, _ in PAGES), "… the whole table", "repairs")
    told = [f"{name}: {', '.join(f'{ms:,.0f}' for ms in found)}" for name, found in zip(EDITS, edits, strict=False)]
    return "\n".join(
        [
            "## A review of ten million rows",
            "",
            f"A table of {rows:,} rows and 5 columns (Parquet), 0.5% of whose cells are wrong; as above.",
            "",
            "| " + " | ".join(heads) + " |",
            "|" + " ---: |" * len(heads),
            "| " + " | ".join(f"{ms:,.0f}" for ms in pages) + " |",
            "",
            f"After an edit (table, repairs, a cell's story): {'; '.join(told)}.",
            "",
        ]
    )


def _table(rows: int, share: float, count: int) -> pa.Table:
    chance = np.random.default_rng(7)
    group = np.arange(rows) // 4
    b = np.char.add("b", (group % 997).astype(str))
    wrong = chance.random(rows) < share
    b[wrong] = "other"
    columns: dict[str, Any] = {
        "ID": np.char.add("id", np.arange(rows).astype(str)),
        "A": np.char.add("a", group.astype(str)),
        "B": b,
    }
    for number in range(count - len(columns)):
        columns[f"C{number}"] = np.char.add(f"value {number} ", (np.arange(rows) * 7919 % 10_007).astype(str))
    return pa.table(columns)


def _measured(
    folder: Path, kind: str, rows: int, share: float, columns: int = COLUMNS
) -> tuple[list[float], list[list[float]]]:
    """What pages take, and the first ones after each edit; then what is counted beside them."""
    path = folder / f"table.{kind}"
    table = _table(rows, share, columns)
    pyarrow.csv.write_csv(table, path) if kind == "csv" else pyarrow.parquet.write_table(table, path)
    del table
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
            markets=NobodySells(),
            buyer="bench",
            receipts=dict,
            receipts_folder=None,
            verify={},
            command="",
        )
    )
    session.start()
    while not (session.outlook.marks and session.outlook.is_current and session.run.state == "done"):
        time.sleep(0.2)
    console = ReviewConsole(session)
    client = _Client(console)
    told = {"last": -(-rows // 50), "middle": rows // 2, "wrong": _wrong(session)}
    found = [statistics.median(_cpu(client, page.format(**told)) for _ in range(AGAIN)) for _, page in PAGES]
    whole, look_on = 0.0, "/table/rows?q=nowhere"
    while look_on:
        whole += _cpu(client, look_on)
        text = client.last
        look_on = (
            text.split('hx-get="/table/rows/on?')[1].split('"')[0].replace("&amp;", "&") if "/rows/on?" in text else ""
        )
        look_on = f"/table/rows/on?{look_on}" if look_on else ""
    found += [whole, statistics.median(_cpu(client, "/repairs") for _ in range(AGAIN))]
    edits = _after_edits(session, client, told)
    session.close()
    engine.close()
    return found, edits


def _after_edits(session: ReviewSession, client: _Client, told: dict[str, int]) -> list[list[float]]:
    """The first pages after each edit, and what is counted beside them, for itself."""
    outlook = session.outlook
    counts, outlook._uncounted = outlook._uncounted, lambda: None
    found = []
    for edit in EDITS.values():
        edit(session, str(told["wrong"]))
        found.append([_cpu(client, page.format(**told)) for page in NEXT])
    outlook._uncounted = counts
    begin = time.process_time()
    session.changed()
    while (written := session.written()) is None or written.violations is None:
        time.sleep(0.02)
    return [*found, [1000 * (time.process_time() - begin)]]


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
