"""The table that a suggestion is about, read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pacas.cli.data_options import HowToRead
from pacas.cli.options import Tell
from pacas.suggest.coded_table import CodedTable


@contextmanager
def coded_table(data: str, read: HowToRead) -> Iterator[tuple[CodedTable, Tell]]:
    """The table as codes, and whom to tell what is going on."""
    with read.opened(data) as (engine, source, tell):
        yield CodedTable.read(engine, source), tell


def sample_of(table: CodedTable) -> str | None:
    """What to say where not all rows were looked at."""
    return f"{table.rows:,} of {table.of:,} rows were looked at" if table.is_sample else None
