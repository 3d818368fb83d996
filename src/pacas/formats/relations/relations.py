"""Relations in files: CSV, TSV, Parquet and Excel, texts plain or compressed; and where else one may be."""

from __future__ import annotations

import codecs
import csv
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv

from pacas.core.relation import Relation, check_columns
from pacas.engine.contract import Engine, RelationFile, Source
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.delta_lake import is_delta
from pacas.engine.files.encoding import UTF_8, encoding_named, undecodable
from pacas.engine.files.excel import SUFFIXES as EXCEL_SUFFIXES
from pacas.engine.files.excel import WRITTEN, SheetWriter, sheet_header, sheet_named
from pacas.engine.files.folder import parquet, scan_folder
from pacas.errors import FileError, InputError, SchemaError

DELIMITERS = ",;\t|"
PARQUET = "parquet"
EXCEL = "excel"
BATCH = 1 << 16
"""Rows that are in memory at once while a table is copied."""
_HEADER_BYTES = 1 << 20
_SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_NOT_READ = {".bz2", ".br", ".lz4", ".xz", ".zip", ".7z"}


class Reading(NamedTuple):
    """What a file does not say of itself: its encoding, what stands for no value, and which sheet is meant."""

    encoding: str | None = None
    nulls: Sequence[str] = ()
    sheet: str | None = None

    def over(self, other: Reading) -> Reading:
        """This, and where it says nothing the other."""
        return Reading(self.encoding or other.encoding, self.nulls or other.nulls, self.sheet or other.sheet)


AS_IT_IS = Reading()


def locate(data: str, folder: Path, key: Sequence[str], engine: Engine[Any], reading: Reading = AS_IT_IS) -> Source:
    """The relation that a file or a command line names: a file, a folder of Parquet files, or what the engine finds.

    Files and folders are looked for relative to `folder`. Anything else is for the engine: to Spark, a table's name
    (`lake.people`), a place that it reads (`s3://…`), or a Delta folder if it has Delta's package. A key numbers the
    rows of folders and tables; the rows of a file have its order, and of a key it is asked only that its columns exist.
    """
    path = folder / data
    if any(reading) and not _is_there(path, Path.is_file):
        raise InputError(f"{data}: an encoding, markers of nulls and a sheet are of files; leave them out")
    if _is_there(path, Path.is_dir):
        by_engine = is_delta(path) and engine.reads_delta
        return engine.scan(str(path.absolute()), key) if by_engine else scan_folder(path, key)
    if not _is_there(path, Path.is_file) and engine.finds_tables:
        if "://" not in data and path.suffix.lower() in {*_SUFFIXES, ".parquet", *COMPRESSED}:
            raise FileError(f"{path} does not exist; give a file, a folder, or the name of a Spark table")
        return engine.scan(data, key)
    file = scan_relation(path, encoding=reading.encoding, null=reading.nulls, sheet=reading.sheet)
    SchemaError.check_there(key, file.columns, file.name)
    return file


def scan_relation(
    path: str | Path, *, encoding: str | None = None, null: str | Sequence[str] = (), sheet: str | None = None
) -> RelationFile:
    """A file as a relation, its header read and checked, its rows left where they are.

    `encoding` is a text's, if it is not UTF-8; `null` what stands for no value, such as "NA"; `sheet` a workbook's.
    """
    file = Path(path)
    reading = Reading(encoding, (null,) if isinstance(null, str) else tuple(null), sheet)
    try:
        found = file.is_file()
    except OSError as error:
        raise FileError(f"no such file ({error.strerror}); give a CSV, TSV, Parquet or Excel file") from None
    if not found:
        if file.is_dir():
            raise FileError(f"{file} is a folder; give a CSV, TSV, Parquet or Excel file")
        raise FileError(
            f"{file} does not exist; give a CSV, TSV, Parquet or Excel file "
            "(a folder, or a table's name with engine 'spark')"
        )
    if file.suffix.lower() in _NOT_READ:
        raise FileError(f"{file.name}: {file.suffix} is not read; compress with gzip (.gz) or Zstandard (.zst)")
    if file.stat().st_size == 0:
        raise FileError(f"{file.name} is empty; a relation needs a header and at least one row")
    described = _described(file, reading)
    check_columns(described.columns, file.name)
    return described


def _described(file: Path, reading: Reading) -> RelationFile:
    nulls = tuple(reading.nulls)
    if file.suffix.lower() in EXCEL_SUFFIXES:
        _check_unsaid(file, {"encoding": reading.encoding}, "an Excel file")
        sheet = sheet_named(file, reading.sheet)
        return RelationFile(file, EXCEL, tuple(sheet_header(file, sheet)), "", nulls=nulls, sheet=sheet)
    if _is_parquet(file):
        _check_unsaid(file, {"encoding": reading.encoding, "null": nulls, "sheet": reading.sheet}, "a Parquet file")
        return RelationFile(file, PARQUET, tuple(_parquet_columns(file)), "")
    _check_unsaid(file, {"sheet": reading.sheet}, "a text")
    encoding = encoding_named(reading.encoding or UTF_8)
    columns, delimiter, line_end = _csv_header(file, encoding)
    _check_complete(file)
    compression = COMPRESSED.get(file.suffix.lower(), "none")
    return RelationFile(file, "csv", tuple(columns), delimiter, compression, encoding, nulls, line_end=line_end)


def _check_unsaid(file: Path, given: dict[str, object], kind: str) -> None:
    for what, value in given.items():
        if value:
            raise InputError(f"{file.name} is {kind}, of which no {what} is to be said; leave it out")


def read_relation(
    path: str | Path, *, encoding: str | None = None, null: str | Sequence[str] = (), sheet: str | None = None
) -> Relation:
    """A file's relation in memory, values as text and empty cells null (Parquet keeps its types)."""
    file = scan_relation(path, encoding=encoding, null=null, sheet=sheet)
    if file.format == "parquet":
        try:
            return Relation(parquet().read_table(file.path))
        except (pa.ArrowException, OSError) as error:
            raise FileError(f"{file.name} is not a complete Parquet file ({_first_line(error)})") from None
    engine = DuckEngine()
    return Relation(engine.rows(engine.open(file), None, file.columns))


def write_relation(relation: Relation, path: str | Path) -> None:
    """A relation as a file, of the kind and compression that its name says."""
    file = Path(path)
    kind = kind_to_write(file)
    try:
        if kind == PARQUET:
            parquet().write_table(relation.table, file)
            return
        if kind == EXCEL:
            with SheetWriter(file, relation.columns) as sheet:
                sheet.write_table(relation.table)
            return
        options = pyarrow.csv.WriteOptions(delimiter=kind, quoting_style="needed")
        with create_text(file) as stream:
            pyarrow.csv.write_csv(relation.table, stream, options)
    except OSError as error:
        raise FileError(f"{file} cannot be written ({_first_line(error)})") from None


def kind_to_write(file: Path) -> str:
    """What a name says of the file to be written: PARQUET, EXCEL, or the delimiter of a text."""
    if file.suffix.lower() == WRITTEN:
        return EXCEL
    known = [s.lower() for s in file.suffixes if s.lower() in {*_SUFFIXES, ".parquet"}]
    if not known or (file.suffix.lower() != known[-1] and file.suffix.lower() not in COMPRESSED):
        raise FileError(
            f"{file.name}: cannot tell what to write; end the name in .csv, .tsv, .xlsx or .parquet (.gz, .zst)"
        )
    return PARQUET if known[-1] == ".parquet" else _SUFFIXES[known[-1]]


def open_text(file: Path) -> pa.NativeFile:
    """A text's bytes, decompressed as its name says."""
    return pa.input_stream(str(file), compression=COMPRESSED.get(file.suffix.lower()))


def create_text(file: Path) -> pa.NativeFile:
    """A text to be written, compressed as its name says."""
    return pa.output_stream(str(file), compression=COMPRESSED.get(file.suffix.lower()))


def _is_there(path: Path, kind: Callable[[Path], bool]) -> bool:
    try:
        return kind(path)
    except OSError:  # such as a name that is too long
        return False


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as stream:
        begins = stream.read(4)
        stream.seek(-min(4, file.stat().st_size), os.SEEK_END)
        return begins == stream.read(4) == b"PAR1" or (begins == b"PAR1" and ".parquet" in file.name.lower())


def _parquet_columns(file: Path) -> list[str]:
    try:
        return list(parquet().read_schema(file).names)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} is not a complete Parquet file ({_first_line(error)})") from None


def _csv_header(file: Path, encoding: str) -> tuple[list[str], str, str | None]:
    """The column names and the delimiter: of the usual ones, the one that cuts the header most often.

    And what ends its line, where that must be said: its names have line breaks themselves.
    """
    try:
        with open_text(file) as stream:
            start = stream.read(_HEADER_BYTES)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} cannot be read ({_first_line(error)})") from None
    if not start.strip():
        raise FileError(f"{file.name} is empty; a relation needs a header and at least one row")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and encoding == UTF_8:
        raise FileError(f"{file.name} is UTF-16; say so (--encoding utf-16)")
    if b"\0" in start and encoding == UTF_8:
        raise FileError(f"{file.name} is neither text nor Parquet; give a CSV, TSV, Parquet or Excel file")
    text = _decode(file, start, encoding)
    header = _first_record(text)
    if header.count('"') % 2:
        raise FileError(f"{file.name}, line 1: a quoted field that does not end as one")
    outside = Counter(_unquoted(header))
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in file.suffixes)
    delimiter = "\t" if tabs else max(DELIMITERS, key=lambda d: outside[d])
    try:
        names = next(csv.reader([header], delimiter=delimiter))
    except csv.Error as error:
        raise FileError(f"{file.name}, line 1: the header cannot be read ({error})") from None
    after = text[len(header) : len(header) + 2]
    line_end = after if after == "\r\n" else after[:1]
    return names, delimiter, line_end if line_end and {"\r", "\n"} & set(header) else None


def _check_complete(file: Path) -> None:
    """Raise if a Zstandard file stops short: DuckDB would take what is there for all of it."""
    if file.suffix.lower() != ".zst":
        return
    try:
        with open_text(file) as stream:
            while stream.read(1 << 24):
                pass
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} is cut short or damaged ({_first_line(error)})") from None


def _decode(file: Path, start: bytes, encoding: str) -> str:
    if encoding != UTF_8:
        try:
            return codecs.getincrementaldecoder(encoding)().decode(start).removeprefix("\ufeff")
        except UnicodeError:
            raise undecodable(file.name, 0, encoding) from None
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start > len(start) - 4 and len(start) == _HEADER_BYTES:  # cut in the middle of a character
            return start[: error.start].decode("utf-8-sig")
        line = start.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{file.name}, line {line}: bytes that are not UTF-8; say how it is encoded (--encoding latin-1)"
        ) from None


def _first_record(text: str) -> str:
    """The header; line breaks inside quotes belong to it."""
    quoted = False
    for i, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character in "\r\n" and not quoted:
            return text[:i]
    return text


def _unquoted(header: str) -> str:
    return "".join(header.split('"')[::2])


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0].split("Row #", 1)[0].strip()[:200]
