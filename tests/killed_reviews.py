"""`pacas review` as a command on twelve classes of three rows, which may be shot in the middle of a payment."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from reviewed_offices import PATIENCE

SCRIPT = Path(__file__).parent / "review" / "killed_review.py"
PROVIDER = """\
[relation]
data = "sp.csv"
[match]
B = "K = K"
[pricing]
total = 36.0
seed = 7
"""
COMMAND = ["client.toml", "--provider", "provider.toml", "--budget", "20", "--strategy", "paper"]


def write_files(folder: Path) -> None:
    """Twelve classes of three rows; in each one row is wrong."""
    sold, dirty = ["K,B"], ["K,H,B"]
    for i in range(36):
        right = f"b{i // 3 % 5}"
        sold.append(f"k{i},{right}")
        dirty.append(f"k{i},h{i // 3},{f'wrong{i}' if i % 3 == 1 else right}")
    contents = {"sp.csv": sold, "client.csv": dirty, "provider.toml": [PROVIDER]}
    contents["client.toml"] = ['data = "client.csv"', 'fds = ["H -> B"]']
    for name, lines in contents.items():
        (folder / name).write_text("\n".join(lines) + "\n")


@contextmanager
def started(moment: str, browser: str = "--no-browser") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A review in this folder, shot `before` or `after` its first payment, or `never`; and its address."""
    line = [sys.executable, str(SCRIPT), moment, "review", *COMMAND, browser, "--json"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def sold(folder: Path) -> list[Any]:
    with closing(sqlite3.connect(folder / "provider.ledger.db")) as ledger:
        return ledger.execute("SELECT buyer, purchases FROM total").fetchall()
