"""Excel workbooks: a sheet's first row names the columns, and a row of nothing is none."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pacas.errors import FileError

SUFFIXES = {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"}
WRITTEN = ".xlsx"
MOST_ROWS = 1_048_575
"""Rows below the header that a sheet has room for."""
LONGEST_CELL = 32_767
"""Characters that a cell has room for."""
FIRST_YEAR = 1900
"""Excel knows no earlier days."""
_NO_NAME = re.compile(r"[\[\]:*?/\\]|^'|'$")
"""What a sheet's name cannot have in Excel, and has in other workbooks."""
_NO_PACKAGE = "Excel files need further packages; install pacas[excel]"

Row = list[Any]


def sheet_named(path: Path, sheet: str | None) -> str:
    """The sheet that is meant: the one that is named, or the only one."""
    with _opened(path) as book:
        names = list(book.sheet_names)
    if sheet is None and len(names) == 1:
        return str(names[0])
    if sheet in names:
        return str(sheet)
    listed = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    if sheet is None:
        raise FileError(
            f"{path.name} has {len(names)} sheets, {listed}; say which one is the client's or the provider's table "
            "(--sheet, or sheet =); any other table stands alone in its file"
        )
    raise FileError(f"{path.name} has no sheet {sheet!r}; there are {listed}")


def sheet_rows(path: Path, sheet: str) -> Iterator[Row]:
    """The rows that are not empty, as Excel's own values; the first names the columns."""
    with _opened(path) as book:
        try:
            rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
        except Exception as error:  # the package has an error of its own for each kind of damage
            raise _damaged(path, error) from None
    return (row for row in rows if any(value != "" for value in row))


def sheet_header(path: Path, sheet: str) -> list[str]:
    header = next(sheet_rows(path, sheet), None)
    if header is None:
        raise FileError(f"{path.name}: the sheet {sheet!r} is empty; a relation needs a header and at least one row")
    return [as_text(value) or "" for value in header]


def sheet_table(path: Path, sheet: str, columns: Sequence[str], nulls: Sequence[str]) -> pa.Table:
    """Some columns of a sheet, as texts; a null where a cell is empty, or holds a marker of nulls."""
    rows = sheet_rows(path, sheet)
    header = [as_text(value) or "" for value in next(rows)]
    places = [header.index(column) for column in columns]
    texts: list[list[str | None]] = [[] for _ in columns]
    for row in rows:
        for text, place in zip(texts, places, strict=True):
            value = as_text(row[place]) if place < len(row) else None
            text.append(None if value in nulls else value)
    return pa.table([pa.array(text, pa.string()) for text in texts], names=list(columns))


def as_text(value: Any) -> str | None:
    """A cell's text: whole numbers without a point, days and times as ISO writes them, nothing as null.

    >>> as_text(51.0), as_text(0.5), as_text(""), as_text(True), as_text(dt.date(2026, 3, 1))
    ('51', '0.5', None, 'true', '2026-03-01')
    """
    match value:
        case "" | None:
            return None
        case bool():
            return str(value).lower()
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case dt.datetime():
            return value.isoformat(" ") if value.time() != dt.time() else value.date().isoformat()
        case _:
            return str(value)


def excel_writer() -> Any:
    """The package that writes workbooks; an error where it is not installed."""
    try:
        import xlsxwriter
    except ImportError:
        raise FileError(_NO_PACKAGE) from None
    return xlsxwriter


class SheetWriter:
    """A workbook with one sheet, written row by row."""

    def __init__(self, path: Path, columns: Sequence[str], sheet: str = "Sheet1") -> None:
        writer = excel_writer()
        if not path.parent.is_dir():
            raise FileError(f"{path} cannot be written: there is no folder {path.parent}")
        self._path = path
        self._book = writer.Workbook(str(path), {"constant_memory": True, "in_memory": False})
        self._sheet = self._book.add_worksheet(_NO_NAME.sub("_", sheet[:31]))
        self._formats = {
            kind: self._book.add_format({"num_format": shape})
            for kind, shape in ((dt.datetime, "yyyy-mm-dd hh:mm:ss"), (dt.date, "yyyy-mm-dd"), (dt.time, "hh:mm:ss"))
        }
        self._next = 0
        self.write_row(list(columns))

    def __enter__(self) -> SheetWriter:
        return self

    def __exit__(self, *_: object) -> None:
        from xlsxwriter.exceptions import XlsxWriterException

        try:
            self._book.close()
        except XlsxWriterException as error:
            raise FileError(f"{self._path} cannot be written ({type(error).__name__})") from None

    def write_row(self, values: Sequence[Any]) -> None:
        if self._next > MOST_ROWS:
            raise FileError(f"an Excel sheet has room for {MOST_ROWS:,} rows; write .csv or .parquet")
        for place, value in enumerate(values):
            self._write(place, value)
        self._next += 1

    def write_table(self, table: pa.Table) -> None:
        for batch in table.to_batches():
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                self.write_row(row)

    def _write(self, place: int, value: Any) -> None:
        match value:
            case None | "":
                return
            case bool():
                self._sheet.write_boolean(self._next, place, value)
            case int() | float() if abs(value) < 1e15:
                self._sheet.write_number(self._next, place, value)
            case dt.datetime() | dt.date() | dt.time() if _is_known(value):
                self._sheet.write_datetime(self._next, place, value, self._formats[type(value)])
            case _:  # as text, also what looks like a formula
                text = as_text(value) or ""
                if len(text) > LONGEST_CELL:
                    raise FileError(
                        f"a text of {len(text):,} characters, and an Excel cell has room for {LONGEST_CELL:,}; "
                        "write .csv or .parquet"
                    )
                self._sheet.write_string(self._next, place, text)


def _is_known(moment: Any) -> bool:
    """Whether Excel has a number for a moment."""
    return getattr(moment, "tzinfo", None) is None and getattr(moment, "year", FIRST_YEAR) >= FIRST_YEAR


def _opened(path: Path) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise FileError(f"{path.name}: {_NO_PACKAGE}") from None
    try:
        return CalamineWorkbook.from_path(str(path))
    except Exception as error:  # as above
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> FileError:
    why = str(error).split("\n", 1)[0].strip()[:120] or type(error).__name__
    return FileError(f"{path.name} is not a whole Excel file ({why}); save it once more, as .xlsx or .csv")
