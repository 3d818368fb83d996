"""Which engine a command asks: the options that say it, and the engine itself while the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated, Any

import typer

from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine

AnyData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV or Parquet file, plain or .gz or .zst; or with --key a folder of Parquet files, and with "
        "--engine spark a table's name.",
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="duckdb|spark", help="What reads and groups the data: duckdb, unless a file says otherwise."
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark's master, such as spark://host:7077; without, Spark runs on this machine.",
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="2GB", help="How much memory to work in; what is more goes to disk. On Spark, its driver's."
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key", metavar="COLUMN", help="What tells the rows of a folder or table apart, and so numbers them; repeat."
    ),
]


@contextmanager
def opened_engine(choice: EngineChoice, beside: Engine[Any] | None = None) -> Iterator[Engine[Any]]:
    """An engine for one command, closed at its end.

    `beside` is one that runs already. It serves here, too, if it is of the same kind: a process has one Spark, and
    one limit of its memory, unless another is asked for.
    """
    if beside is not None and beside.serves(choice.engine, master=choice.master, memory=choice.memory):
        yield beside
        return
    with closing(choice.open()) as engine:
        yield engine
