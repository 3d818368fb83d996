"""Files that are there whole or not at all: written beside their place, and moved there when they are on disk."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from pacas.errors import FileError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write under; what is written there takes the place of `path` at the end, unless there is an error."""
    partial = partial_name(path)
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror})") from None
    finally:
        partial.unlink(missing_ok=True)


TABLES = {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".parquet", ".arrow", ".feather"}
"""Names of tables that are no text."""


def check_is_text(path: Path) -> None:
    """Raise if a name would say of a text that it is another kind of file."""
    if path.suffix.lower() in TABLES:
        raise FileError(f"{path} would hold CSV, whatever its name says; give it a name that ends in .csv")


def write_lines(path: Path, header: Iterable[object], lines: Iterable[Iterable[object]]) -> None:
    """A table as CSV, its lines made as they are written."""
    check_is_text(path)
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)


def partial_name(path: Path) -> Path:
    """Where a file is while it is not whole; it ends as the file's name does, which says its kind."""
    return path.with_name(f".partial-{path.name}")


def check_writable(path: Path) -> None:
    """Raise if a file could not be written there: it is tried, under a name that nobody else writes under."""
    try:
        if path.is_dir():
            raise FileError(f"{path} is a folder; give the name of a file")
        if not path.parent.is_dir():
            raise FileError(f"{path} cannot be written: there is no folder {path.parent}")
        descriptor, tried = mkstemp(prefix=".partial-", suffix=f"-{path.name}", dir=path.parent)
        os.close(descriptor)
        os.unlink(tried)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror})") from None


def sync_folder(folder: Path) -> None:
    """Make it outlast a crash of the machine that a file is there."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
