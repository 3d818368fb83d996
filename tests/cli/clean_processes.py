"""Cleanings that are shot with SIGKILL, for `test_interrupted_clean.py`.

Run as a script, so that no thread of the tests is forked along; everything it needs is imported once. Each child runs
`pacas clean --resume` and counts what happens around its purchases and its output; at the n-th such moment it kills
itself. Printed: a JSON document for each run that came to its end, with what stands in the folder afterwards.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pandas as pd  # noqa: F401  # DuckDB looks for it, and would load it in every child

from pacas.cli.clean import run as clean_run
from pacas.cli.clean.command import DOUBTFUL
from pacas.cli.main import load_commands, run
from pacas.formats.journal.journal import Journal
from pacas.formats.journal.journal_file import JournalFile
from pacas.formats.relations import changed_csv
from pacas.provider.provider import Provider
from pacas.storage.sqlite.ledger import SqliteLedger

COMMAND = ["clean", "client.toml", "--provider", "provider.toml", "--json", "--resume"]
CHOICES = {
    "paper": ["--budget", "0.3", "--strategy", "paper", "--rounds", "2"],
    "weigh": ["--budget", "1", "--strategy", "weigh"],
    "panel": ["--provider", "second.toml", "--budget", "1", "--strategy", "paper"],
    "panel that weighs": ["--provider", "second.toml", "--budget", "1", "--strategy", "weigh"],
}
MOST = 16
"""Moments that a run may have before it is killed; each later one may have more, for writing the output takes many."""


class Moments:
    """Counts moments, and ends the process at one of them."""

    def __init__(self, fatal: int, report: Callable[[bytes], Any]) -> None:
        self.count, self.fatal, self.report = 0, fatal, report

    def pass_(self, name: str) -> None:
        self.count += 1
        if self.count == self.fatal:
            self.report(name.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str) -> None:
        """A moment before each call of a function, and one after it."""
        function = getattr(owner, name)

        @wraps(function)
        def watched(*arguments: Any, **options: Any) -> Any:
            self.pass_(f"before {name}")
            result = function(*arguments, **options)
            self.pass_(f"after {name}")
            return result

        setattr(owner, name, watched)


def clean(folder: Path, fatal: int, strategy: str) -> str | None:
    """Run the command in a child; the moment at which it was killed, or None if it came to its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            os.dup2(os.open(folder / "out.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            _arm(Moments(fatal, partial(os.write, writing)))
            code = run([*COMMAND, *CHOICES[strategy]])
        finally:
            os._exit(code)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    with open(reading, "rb") as told:
        moment = told.read().decode()
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return moment
    assert os.WEXITSTATUS(status) in (0, DOUBTFUL), "the command failed"
    return None


def _arm(moments: Moments) -> None:
    """Put moments around all that must not be lost, and into the middle of all that is written."""
    moments.around(Provider, "pay")
    moments.around(Provider, "pay_many")
    moments.around(SqliteLedger, "append")
    moments.around(Journal, "ordering")
    moments.around(Journal, "settled")
    moments.around(Journal, "finish")
    moments.around(clean_run, "write_cleaned")
    moments.around(changed_csv, "_patched")  # some of the output is written then
    moments.around(os, "replace")
    write = os.write

    def torn(journal: JournalFile, line: bytes, *sync: Any) -> None:
        write(journal._file, line[: len(line) // 2])
        moments.pass_("inside a line")
        whole(journal, line[len(line) // 2 :], *sync)

    whole = JournalFile._write
    JournalFile._write = torn  # type: ignore[assignment,method-assign]


def begin(files: Path, folder: Path) -> Path:
    """The files, with nothing bought yet."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    shutil.copytree(files, folder)
    return folder


def found(folder: Path) -> dict[str, Any]:
    """The table, the document, what was spent by the ledgers, and what is left lying about."""
    entries = 0
    totals: list[tuple[str, int, int]] = []
    ledgers = sorted(folder.glob("*.ledger.db"))
    for path in ledgers:
        with closing(sqlite3.connect(path)) as ledger:
            entries += ledger.execute("SELECT count(*) FROM entry").fetchone()[0]
            totals += ledger.execute("SELECT buyer, purchases, spent FROM total").fetchall()
    return {
        "table": (folder / "client.clean.csv").read_text(),
        "document": json.loads((folder / "out.json").read_text()),
        "entries": entries - len(ledgers),
        "totals": totals,
        "files": sorted(path.name for path in folder.iterdir()),
    }


def often(files: Path, scratch: Path, seed: int, kills: int, strategy: str) -> None:
    """Run after run is killed at random moments, and continued, until it comes to its end; so many kills in all."""
    chance = random.Random(seed)
    clean(begin(files, scratch), 0, strategy)
    print(json.dumps({"moments": [], **found(scratch)}))
    while kills > 0:
        begin(files, scratch)
        moments: list[str] = []
        while (moment := clean(scratch, chance.randint(1, MOST + 2 * len(moments)), strategy)) is not None:
            moments.append(moment)
        kills -= len(moments)
        print(json.dumps({"moments": moments, **found(scratch)}))


if __name__ == "__main__":
    load_commands()  # once, and not in every child
    often(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
