"""What PACAS asks of a relational engine, and nothing more.

An engine opens relations and answers a handful of questions about them. Each answer is small or bounded by
what is wrong with the data: groups that hold more than one value, histograms, distinct answers. A distributed
engine can therefore implement the contract without ever bringing a whole relation to the caller.

`tests/contracts/test_engine.py` states what every engine must do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.core.consistency import GroupedRows
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import GroupHistogram, Histogram
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import Relation
from pacas.engine.codes import CodedColumn
from pacas.engine.kept_rows import Agreement, Choose, KeptRows
from pacas.engine.new_cells import NewCells
from pacas.errors import InputError, SchemaError

Hierarchies = Mapping[str, Hierarchy]

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
LEAST_MEMORY = 10_000_000
"""Bytes below which no engine runs."""


@dataclass(frozen=True, slots=True)
class RelationFile:
    """A file that holds a relation, checked to be readable: the engine reads it in place."""

    path: Path
    format: str
    """`csv`, `parquet` or `excel`."""
    columns: tuple[str, ...]
    delimiter: str = ","
    compression: str = "none"
    """`none`, `gzip` or `zstd`; a Parquet file sees to its own."""
    encoding: str = "utf-8"
    """How a text is encoded."""
    nulls: tuple[str, ...] = ()
    """What stands in a text or a sheet for no value, besides nothing."""
    sheet: str = ""
    """Of a workbook, the one that is the relation."""
    line_end: str | None = None
    """What ends the lines of a text whose header has line breaks of its own; None: the first one does."""

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, slots=True)
class RelationFolder:
    """A folder of Parquet files that together hold a relation, and the key whose order numbers its rows, from 0."""

    path: Path
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, eq=False, repr=False)
class KeyedFrame:
    """A data frame of a distributed engine, such as Spark's, and the key that numbers its rows: from 0 in its order.

    The rows of such a frame have no order of their own. Only the engine that the frame belongs to can open it.
    """

    frame: Any
    key: Sequence[str]
    """A column, or several."""
    name: str = "the table"
    """How messages call it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.key,) if isinstance(self.key, str) else tuple(self.key))
        if not self.key:
            raise InputError(f"{self.name} needs a key: the columns that tell its rows apart, and so number them")
        SchemaError.check_there(self.key, self.columns, self.name)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def __repr__(self) -> str:
        return f"KeyedFrame({self.name}: {', '.join(self.columns)}; by {', '.join(self.key)})"


Source = RelationFile | RelationFolder | Relation | KeyedFrame
"""What an engine opens. Not every engine opens every one: frames belong to the engine that they come from."""

T = TypeVar("T", bound="Table")


@dataclass(frozen=True, eq=False, slots=True)
class NeighbourDiffs:
    """How neighbours differ from a relation: the rows that each removes from it and the rows that each adds.

    Row i of `rows` is removed (sign −1, the values that the relation has there) or added (+1) by `neighbour[i]`. A cell
    that a neighbour changes is one row removed and one added. Neighbours have any numbers, and rows any order.
    """

    neighbour: NDArray[np.int64]
    sign: NDArray[np.int8]
    rows: pa.Table
    """The columns that are asked about, at least; read like those of any relation."""

    def __post_init__(self) -> None:
        if len(self.neighbour) != len(self.sign) or (self.rows.num_columns and len(self.rows) != len(self.sign)):
            raise InputError(
                f"{len(self.neighbour):,} neighbours, {len(self.sign):,} signs and {len(self.rows):,} rows; "
                "deltas need one of each"
            )
        if not np.isin(self.sign, (-1, 1)).all():
            raise InputError("a delta's sign is +1 (a row added) or -1 (a row removed)")

    def __len__(self) -> int:
        return len(self.neighbour)


class Table(Protocol):
    """A relation that an engine has opened."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    def __len__(self) -> int: ...


class Index(Protocol):
    """A relation's rows by what they hold in some columns, made ready to be looked up many times."""

    def __len__(self) -> int:
        """How many rows are in an entry: those without a null in the columns that it is by."""
        ...

    def find(self, values: pa.Table, most: int | None = None) -> pa.Table:
        """The rows that hold the values of each line: (`line`, `row`, …), sorted by both, then the index's columns.

        `values` has the columns that the index is by, as text. A line with a null finds nothing. Of a line that more
        than `most` rows hold, the first `most` + 1 are given.
        """
        ...

    def batches(self, rows: int, most: int) -> Iterator[pa.Table]:
        """All rows that are in an entry, about so many at a time, those of one entry together: (`row`, …), by row.

        Of an entry of more than `most` rows, the first `most` are given.
        """
        ...

    def close(self) -> None:
        """Let go of what was made ready."""
        ...


class Engine(Protocol[T]):
    """A relational engine.

    A value is its text; an empty cell is null; the whole numbers of a float column read as whole numbers.
    Questions may come from several threads at once. An attribute whose hierarchy is numeric compares by number; one
    without a hierarchy has the two-level one.
    """

    @property
    def holdable_bytes(self) -> int:
        """Bytes that a caller may hold of a relation. A larger one is asked about, and never fetched as a whole."""
        ...

    @property
    def finds_tables(self) -> bool:
        """Whether `scan` finds more than folders on this disk: tables by name, and places such as `s3://…`."""
        ...

    @property
    def reads_delta(self) -> bool:
        """Whether `scan` reads Delta tables itself, their logs included."""
        ...

    def serves(self, name: str, *, master: str | None = None, memory: str | None = None) -> bool:
        """Whether this engine is what another one, opened by these words (`open_engine`), would be."""
        ...

    def scan(self, table: str, key: Sequence[str]) -> Source:
        """A table by its name, or a folder by its path, and the key that numbers its rows."""
        ...

    def digest(self, source: Source) -> str:
        """What a relation is told by from one that has changed: hexadecimal, the same whenever it holds the same."""
        ...

    def open(self, source: Source, columns: Sequence[str] | None = None) -> T:
        """Make a relation (or some of its columns) ready to be asked about. Rows are numbered from 0."""
        ...

    def check_unchanged(self, table: T) -> None:
        """Raise if what a table was opened from is known to have changed since."""
        ...

    def mixed_groups(self, table: T, lhss: Sequence[Sequence[str]], rhs: str, hierarchies: Hierarchies) -> GroupedRows:
        """The rows that some left side forces to agree on `rhs`, where they show more than one value.

        With one left side, the groups are its X-groups; with several, rows that share a group of any of them
        belong together, transitively. Only ground values of X group; a null or a general value groups with nothing.
        """
        ...

    def histogram(self, table: T, attributes: Sequence[str], hierarchies: Hierarchies) -> Histogram:
        """How often each combination of values occurs, nulls included, most frequent first."""
        ...

    def group_histogram(
        self, table: T, x: Sequence[str], y: Mapping[str, int], hierarchies: Hierarchies
    ) -> GroupHistogram:
        """Per X-group the Y-values, generalized to the levels that `y` gives. General values group like others."""
        ...

    def answer(self, query: GeneralizedQuery, tables: Mapping[str, T], hierarchies: Hierarchies) -> pa.Table:
        """The distinct answers of a generalized query, sorted."""
        ...

    def changed_answers(
        self, query: GeneralizedQuery, tables: Mapping[str, T], deltas: NeighbourDiffs, hierarchies: Hierarchies
    ) -> NDArray[np.int64]:
        """The neighbours whose answers to the query are not the main relation's: sorted, each once.

        G(T) ≠ G(R), for many neighbours T at once, without making any of them. Every place in which the query names
        the main relation reads the neighbour; the other relations never change. Paper: Alg. 1 and 2.
        """
        ...

    def columns(self, table: T, attributes: Sequence[str]) -> dict[str, CodedColumn]:
        """Whole columns, as integer codes and the values they stand for.

        The values are the column's, each once, sorted by text, a null last: the same codes on every run. The arrays
        are the engine's own, not to be written to. For a caller that indexes its own relation; it brings a few bytes
        per row to the caller.
        """
        ...

    def rows(self, table: T, rows: NDArray[np.int64] | None, columns: Sequence[str]) -> pa.Table:
        """Some rows by number, in the order asked for, or all of them; as text."""
        ...

    def search(self, table: T, text: str, columns: Sequence[str], first: int, last: int) -> NDArray[np.int64]:
        """The rows, from number `first` to before `last`, that have a text in one of the columns, upper case or lower.

        Ascending. Whoever looks through a large relation asks about a stretch of it at a time.
        """
        ...

    def index(self, table: T, by: Sequence[str], columns: Sequence[str], hierarchies: Hierarchies) -> Index:
        """Rows by their values in some columns, with further columns of theirs, as text.

        Values are equal as in X-groups: as texts, by number where a hierarchy is numeric; a null is in no entry.
        """
        ...

    def first_row(self, table: T, columns: Sequence[str]) -> int:
        """The number of the row that comes first by its texts in some columns, nulls last."""
        ...

    def lacking(self, table: T, other: T, columns: Sequence[str]) -> int:
        """How many rows of a relation another one does not have, by their texts in some columns; copies count."""
        ...

    def numbered(self, table: T, groups: Mapping[str, Agreement]) -> T:
        """A relation with two columns more for each name: of the row's group the number, and how many rows it has.

        The number is that of the group's first row. Both are texts, and null where a row is in no group. The second
        column is called as `size_of` says.
        """
        ...

    def kept_back(self, table: T, kept: Mapping[str, KeptRows], choose: Choose) -> T:
        """A relation with one column more for each name: "1" in the rows that are kept back, else null.

        Of each group the units that cost least are kept back, by lot among equal ones; `choose` is asked
        where some units are in several groups.
        """
        ...

    def changed(self, table: T, cells: Mapping[str, NewCells]) -> T:
        """A relation with new values in some cells, as another table. Columns it lacks are null elsewhere."""
        ...

    def repaired(self, table: T, cells: Mapping[str, NewCells]) -> KeyedFrame:
        """The frame that a table was opened from, with new values in some cells; nothing is computed yet."""
        ...

    def write(self, table: T, cells: Mapping[str, NewCells], path: Path, *, replace: bool = False) -> None:
        """Write what a folder or a frame holds, with new values in some cells, as a folder of Parquet files.

        `path` holds all of it or is as it was; `replace` says that what is there may go. All other cells are as they
        were. A column keeps its type where all its new values have it, else it is text.
        """
        ...

    def close(self) -> None:
        """Let go of all that the engine holds; no question comes after it."""
        ...


def memory_bytes(text: str) -> int:
    """How much memory a user gives, such as "2GB", in bytes.

    >>> memory_bytes("2GB"), memory_bytes("512MiB")
    (2000000000, 536870912)
    """
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise InputError(f"cannot read an amount of memory from {text!r}; give one such as 2GB or 512MB")
    number, power, binary = found.groups()
    amount = int(float(number) * (1024 if binary else 1000) ** _POWERS[power.upper()])
    if amount < LEAST_MEMORY:
        raise InputError(f"{text!r} is too little memory to work in; give some more, such as 2GB or 512MB")
    return amount
