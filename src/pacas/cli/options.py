"""What several commands share: their options, and how they print."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleDimensions
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pacas.client.classes.check import Tell
from pacas.core.hierarchy import Hierarchy
from pacas.errors import InputError
from pacas.formats.hierarchies import read_hierarchy

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; progress stays on stderr.")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A CSV, TSV or Parquet file, plain or .gz or .zst.")]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="ATTR=FILE", help="An attribute's hierarchy (ARX CSV, JSON, Amnesia); repeat."),
]

UNWRAPPED = 10_000


class _Console(Console):
    """Prints values as they are, `[red]` and `:tada:` included, and wraps nothing unless it is a terminal."""

    def __init__(self) -> None:
        super().__init__(markup=False, emoji=False, highlight=False)

    @property  # type: ignore[misc]  # read-only: nobody sets it
    def size(self) -> ConsoleDimensions:
        if self.is_terminal or "COLUMNS" in os.environ:
            return super().size
        return ConsoleDimensions(UNWRAPPED, 25)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # how to end is for `main` to say


out = _Console()


def printable(value: str | None) -> str:
    """A value on one line: control characters are escaped, a null is empty."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value or "")


def print_json(document: Mapping[str, Any]) -> None:
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    json.dump(document, sys.stdout, ensure_ascii=not unicode)
    sys.stdout.write("\n")


def show_help(context: typer.Context) -> None:
    """The help of a group of commands that was called without one."""
    if context.invoked_subcommand is None:
        context.get_help()  # prints it


def read_hierarchies(options: Sequence[str] | None) -> dict[str, Hierarchy]:
    """The hierarchies of `--hierarchy ATTR=FILE …`."""
    read: dict[str, Hierarchy] = {}
    for option in options or ():
        attribute, sign, file = option.rpartition("=")
        if not sign or not attribute or not file:
            raise InputError(f"--hierarchy takes ATTR=FILE, such as MED=med.csv, not {option!r}")
        if attribute in read:
            raise InputError(f"--hierarchy names {attribute!r} twice")
        read[attribute] = read_hierarchy(file)
    return read


def names(text: str) -> tuple[str, ...]:
    """The attributes of `A,B`; double quotes protect a comma.

    >>> names('GEN, "ZIP, or postcode"')
    ('GEN', 'ZIP, or postcode')
    """
    try:
        listed = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InputError(f"cannot read a list of attributes such as GEN,AGE from {text[:80]!r}") from None
    return tuple(name.strip() for name in listed if name.strip())


@contextmanager
def progress() -> Iterator[Tell]:
    """Show what is going on, on stderr, if that is a terminal; stdout is left alone."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what: bar.update(task, description=printable(what))
