"""The data that a command reads, and the engine that it asks: the options that name them, and how they are opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from pacas.cli.options import Tell, progress, takes
from pacas.core.hierarchy import Hierarchy
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine, Source
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.errors import InputError
from pacas.formats.relations.relations import AS_IT_IS, Reading, locate

AnyData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet or Excel file, texts plain or .gz or .zst; or with --key a folder of Parquet files, "
        "and with --engine spark a table's name.",
    ),
]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A CSV, TSV, Parquet or Excel file.")]
HierarchyOption = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", metavar="ATTR=FILE", help="An attribute's hierarchy (ARX, JSON, Amnesia); repeat."),
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


def _reading(
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", metavar="NAME", help="How a text is encoded, such as latin-1 or cp1252. (default: utf-8)"
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option("--null", metavar="TEXT", help="What stands for no value, such as NA, besides nothing; repeat."),
    ] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", metavar="NAME", help="Of an Excel file with several sheets, the table.")
    ] = None,
) -> Reading:
    return Reading(encoding, null or (), sheet)


def _engine(engine: EngineOption = None, master: MasterOption = None, memory: MemoryOption = None) -> EngineChoice:
    return EngineChoice(engine, master, memory)


UNSAID = EngineChoice()
"""An engine that nothing is said of: a file does, or it is the usual one."""
chooses_an_engine = takes("engine", _engine)
"""A command with --engine, --master and --memory where it takes an `engine`."""
reads_a_table = takes("reading", _reading)
"""A command with --encoding, --null and --sheet where it takes a `reading`: what a file does not say of itself."""


@dataclass(frozen=True, slots=True)
class HowToRead:
    """How a table is read: what numbers its rows, what its file does not say of itself, and by which engine."""

    key: Sequence[str] = ()
    reading: Reading = AS_IT_IS
    engine: EngineChoice = UNSAID

    @contextmanager
    def opened(self, data: str) -> Iterator[tuple[Engine[Any], Source, Tell]]:
        """The engine, the table that a command line names, and whom to tell what is going on."""
        with opened_engine(self.engine) as engine, progress() as tell:
            tell(f"reading {data}")
            yield engine, locate(data, Path(), self.key, engine, self.reading), tell


@reads_a_table
@chooses_an_engine
def _how_to_read(key: KeyOption = None, reading: Reading = AS_IT_IS, engine: EngineChoice = UNSAID) -> HowToRead:
    return HowToRead(key or (), reading, engine)


AS_NAMED = HowToRead()
says_how_to_read = takes("read", _how_to_read)
"""A command with --key and all the options above where it takes a `read`."""


def read_hierarchies(options: Sequence[str] | None) -> dict[str, Hierarchy]:
    """The hierarchies of `--hierarchy ATTR=FILE …`."""
    read: dict[str, Hierarchy] = {}
    for option in options or ():
        attribute, sign, file = option.rpartition("=")
        if not sign or not attribute or not file:
            raise InputError(f"--hierarchy takes ATTR=FILE, such as MED=med.csv, not {option!r}")
        if attribute in read:
            raise InputError(f"--hierarchy names {attribute!r} twice")
        read[attribute] = read_hierarchy(file, attribute=attribute)
    return read


@contextmanager
def opened_engine(choice: EngineChoice, beside: Engine[Any] | None = None) -> Iterator[Engine[Any]]:
    """An engine for one command, closed at its end.

    `beside` is one that runs already. It serves here, too, if it is of the same kind: a process has one Spark, and
    one limit of its memory, unless another is asked for.
    """
    _leave_pandas_out()
    if beside is not None and beside.serves(choice.engine, master=choice.master, memory=choice.memory):
        yield beside
        return
    with closing(choice.open()) as engine:
        yield engine


class _NoPandas:
    """A finder of modules that says that pandas is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _leave_pandas_out() -> None:
    """Let Arrow look for pandas now and find none: it would load it (half a second) with the first array it makes.

    Arrow looks once, and again where pandas is really needed, to make a frame.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_NoPandas)
