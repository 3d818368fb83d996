"""The table that a suggestion is about, read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pacas.cli.data_options import opened_engine
from pacas.cli.options import Tell, progress
from pacas.engine.choosing import EngineChoice
from pacas.formats.relations.relations import Reading, locate
from pacas.suggest.coded_table import CodedTable


@contextmanager
def coded_table(
    data: str, key: Sequence[str] | None, reading: Reading, choice: EngineChoice
) -> Iterator[tuple[CodedTable, Tell]]:
    """The table as codes, and whom to tell what is going on."""
    with opened_engine(choice) as engine, progress() as tell:
        tell(f"reading {data}")
        yield CodedTable.read(engine, locate(data, Path(), key or (), engine, reading)), tell


def sample_of(table: CodedTable) -> str | None:
    """What to say where not all rows were looked at."""
    return f"{table.rows:,} of {table.of:,} rows were looked at" if table.is_sample else None
