"""A relation with errors put into it: the clean one, each changed cell, and how hard it is to repair; and as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import canonical_number
from pacas.core.relation import Relation
from pacas.engine.contract import RelationFile
from pacas.engine.new_cells import put
from pacas.errors import FileError
from pacas.formats.relations.changed_csv import Change, write_changed
from pacas.formats.replacing import check_writable, write_lines


class ErrorKind(StrEnum):
    """How a cell became wrong: the first four are aimed at a dependency, the others strike blindly."""

    RHS_FRESH = "rhs_fresh"
    """The right side has a value that stood nowhere in its column."""
    RHS_DOMAIN = "rhs_domain"
    """The right side has another value of its column."""
    LHS_DOMAIN = "lhs_domain"
    """An attribute of the left side has another value of its column, and the tuple has so joined another group."""
    OVERWRITTEN = "overwritten"
    """The right side has another value of its column, as have other rows of its group: a block of them, or all."""
    TYPO = "typo"
    """One character is another one."""
    APPEND = "append"
    """A character more at the end."""
    DROP = "drop"
    """A character less."""
    SWAP = "swap"
    """Two neighbouring characters have changed places."""
    DOMAIN = "domain"
    """Another value of the column."""
    NUMERIC = "numeric"
    """A number somewhat off."""
    OUTLIER = "outlier"
    """A number far outside the column's range."""
    NULL = "null"
    """Nothing at all."""


class Repairability(NamedTuple):
    """Of the tuples that agree with this one on the dependency's other attributes, itself included: the share with the
    old value.

    It is the share that speaks for the right value when a repair looks at the data alone. For an error on the right
    side of X → A these tuples are the X-group; for one on the left side, those with its A and the rest of its X.
    """

    before: float
    """In the clean relation."""
    after: float
    """In the dirty one."""

    @property
    def by_majority(self) -> bool:
        """Whether more than half of them still hold the old value, so that a vote would bring it back."""
        return self.after > 0.5


@dataclass(frozen=True, slots=True)
class CellError:
    """t[A] was `old`, and is `new`; a null is None."""

    row: int
    attribute: str
    old: str | None = field(repr=False)
    new: str | None = field(repr=False)
    kind: ErrorKind
    fd: FunctionalDependency | None = None
    """The dependency that it was aimed at, and that a violation shows it by, unless its group was overwritten whole."""
    repairability: Repairability | None = None
    """For errors with a dependency."""
    is_seen: bool = True
    """Is its tuple in a violation of a dependency that names its attribute?"""


class Shortfall(NamedTuple):
    """Fewer errors than were asked for, because there were no more places for them."""

    what: str
    """A dependency and its side, such as `GEN, DIAG -> MED:rhs`, or its groups (`:overwritten`); or `random`."""
    asked: int
    made: int


@dataclass(frozen=True, eq=False, repr=False)
class DirtyRelation:
    """A clean relation and the errors that make it dirty, in row order: one a tuple, but for overwritten groups."""

    clean: Relation
    errors: tuple[CellError, ...]
    short: tuple[Shortfall, ...]
    left_alone: Mapping[FunctionalDependency, int]
    """Per dependency: the groups that violated it before, and got no errors by it."""
    texts: pa.Table = field(repr=False)
    """The clean values as text, of the columns with errors."""
    overwritten_whole: Mapping[FunctionalDependency, int] = field(default_factory=dict)
    """Per dependency: the groups of which all rows were overwritten, so that no violation of it shows them."""

    @property
    def by_kind(self) -> dict[str, int]:
        """How many errors of each kind, in the order of `ErrorKind`."""
        counts = Counter(error.kind for error in self.errors)
        return {kind.value: counts[kind] for kind in ErrorKind if counts[kind]}

    @cached_property
    def relation(self) -> Relation:
        """The dirty relation; a column keeps its type where all its new values have it, else it becomes text."""
        table = self.clean.table
        for attribute in dict.fromkeys(error.attribute for error in self.errors):
            at = table.column_names.index(attribute)
            errors = [error for error in self.errors if error.attribute == attribute]
            table = table.set_column(at, attribute, _changed(table.column(at), self.texts.column(attribute), errors))
        return Relation(table)

    @property
    def unseen(self) -> int:
        """How many errors no dependency sees."""
        return sum(not error.is_seen for error in self.errors)

    @property
    def dirty_rows(self) -> int:
        """How many rows have an error."""
        return len({error.row for error in self.errors})

    def __repr__(self) -> str:  # no values: they may be a provider's
        kinds = ", ".join(f"{kind}: {n:,}" for kind, n in self.by_kind.items())
        return f"DirtyRelation({len(self.clean):,} rows, {len(self.errors):,} errors{f' ({kinds})' if kinds else ''})"


def _changed(
    column: pa.ChunkedArray, texts: pa.ChunkedArray, errors: Iterable[CellError]
) -> pa.ChunkedArray | pa.Array:
    new = {error.row: error.new for error in errors}
    rows = np.array(sorted(new), dtype=np.int64)
    values = pa.array([new[row] for row in rows.tolist()], pa.string())
    typed = _as_type(values, column.type.value_type if pa.types.is_dictionary(column.type) else column.type)
    return put(texts, rows, values) if typed is None else put(column, rows, typed)


def _as_type(values: pa.Array, type_: pa.DataType) -> pa.Array | None:
    """Texts as values of a type, if they are the texts of such values."""
    try:
        typed = values.cast(type_)
        back = typed.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        return None
    if pa.types.is_floating(type_):
        back = [None if text is None else canonical_number(text) for text in back]
    return typed if back == values.to_pylist() else None


LOG = ("row", "attribute", "old", "new", "kind")
REPAIRABILITY = ("row", "attribute", "fd", "before", "after", "by_majority")


def check_log(path: Path, file: RelationFile, others: Iterable[Path]) -> None:
    """Raise if a log could not be written there, or would take another file's place."""
    check_writable(path)
    for other in (file.path, *others):
        if path.resolve() == other.resolve():
            raise FileError(f"{path} is to hold two things, or is the table itself; give each file its own name")


def write_dirty(dirty: DirtyRelation, file: RelationFile, path: Path) -> None:
    """Write the dirty table of a file; what has no error stays byte for byte, if it is a text of the same kind."""
    column = {attribute: at for at, attribute in enumerate(file.columns)}
    changes: dict[int, list[Change]] = {}
    for e in dirty.errors:
        changes.setdefault(e.row, []).append(Change(column[e.attribute], e.old, e.new or ""))
    write_changed(file, len(dirty.clean), changes, lambda: dirty.relation, path)


def write_log(dirty: DirtyRelation, path: Path) -> None:
    """One line per changed cell, in row order; rows are counted from 0, and a null is empty."""
    write_lines(path, LOG, ([e.row, e.attribute, e.old, e.new, e.kind.value] for e in dirty.errors))


def write_repairability(dirty: DirtyRelation, path: Path) -> None:
    """One line per error with a dependency: the shares of tuples that speak for the old value, before and after."""
    told = ((e, e.repairability) for e in dirty.errors if e.repairability is not None)
    lines = (
        [e.row, e.attribute, str(e.fd), f"{r.before:.6g}", f"{r.after:.6g}", str(r.by_majority).lower()]
        for e, r in told
    )
    write_lines(path, REPAIRABILITY, lines)
