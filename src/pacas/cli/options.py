"""What several commands share: their options, and how they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pacas.client.check import Progress as Tell
from pacas.core.hierarchy import Hierarchy
from pacas.errors import InputError
from pacas.formats.hierarchies import read_hierarchy

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; progress stays on stderr.")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A CSV, TSV or Parquet file, plain or .gz or .zst.")]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="ATTR=FILE", help="An attribute's hierarchy (ARX CSV, JSON, Amnesia); repeat."),
]

out = Console(highlight=False)


def print_json(document: Mapping[str, Any]) -> None:
    json.dump(document, sys.stdout, ensure_ascii=False)
    sys.stdout.write("\n")


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
    """The attributes of `A,B`."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@contextmanager
def progress() -> Iterator[Tell]:
    """Show what is going on, on stderr, if that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what: bar.update(task, description=what)
