"""Relations in files: CSV, TSV and Parquet, plain or compressed with gzip or Zstandard; and where else one may be."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from pacas.core.relation import Relation, check_columns
from pacas.engine.contract import Engine, RelationFile, Source
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.delta_lake import is_delta
from pacas.engine.files.folder import parquet, scan_folder
from pacas.errors import FileError, SchemaError

DELIMITERS = ",;\t|"
PARQUET = "parquet"
BATCH = 1 << 16
"""Rows that are in memory at once while a table is copied."""
_HEADER_BYTES = 1 << 20
_SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_NOT_READ = {".bz2", ".br", ".lz4", ".xz", ".zip", ".7z"}


def locate(data: str, folder: Path, key: Sequence[str], engine: Engine[Any]) -> Source:
    """The relation that a file or a command line names: a file, a folder of Parquet files, or what the engine finds.

    Files and folders are looked for relative to `folder`. Anything else is for the engine: to Spark, a table's name
    (`lake.people`), a place that it reads (`s3://…`), or a Delta folder if it has Delta's package. A key numbers the
    rows of folders and tables; the rows of a file have its order, and of a key it is asked only that its columns exist.
    """
    path = folder / data
    if _is_there(path, Path.is_dir):
        by_engine = is_delta(path) and engine.reads_delta
        return engine.scan(str(path.absolute()), key) if by_engine else scan_folder(path, key)
    if not _is_there(path, Path.is_file) and engine.finds_tables:
        if "://" not in data and path.suffix.lower() in {*_SUFFIXES, ".parquet", *COMPRESSED}:
            raise FileError(f"{path} does not exist; give a file, a folder, or the name of a Spark table")
        return engine.scan(data, key)
    file = scan_relation(path)
    SchemaError.check_there(key, file.columns, file.name)
    return file


def scan_relation(path: str | Path) -> RelationFile:
    """A file as a relation, its header read and checked, its rows left where they are."""
    file = Path(path)
    try:
        found = file.is_file()
    except OSError as error:
        raise FileError(f"no such file ({error.strerror}); give a CSV, TSV or Parquet file") from None
    if not found:
        if file.is_dir():
            raise FileError(f"{file} is a folder; give a CSV, TSV or Parquet file")
        raise FileError(
            f"{file} does not exist; give a CSV, TSV or Parquet file (a folder, or a table's name with engine 'spark')"
        )
    if file.suffix.lower() in _NOT_READ:
        raise FileError(f"{file.name}: {file.suffix} is not read; compress with gzip (.gz) or Zstandard (.zst)")
    if file.stat().st_size == 0:
        raise FileError(f"{file.name} is empty; a relation needs a header and at least one row")
    if _is_parquet(file):
        columns, delimiter, format_ = _parquet_columns(file), "", "parquet"
    else:
        columns, delimiter = _csv_header(file)
        format_ = "csv"
        _check_complete(file)
    check_columns(columns, file.name)
    return RelationFile(file, format_, tuple(columns), delimiter, COMPRESSED.get(file.suffix.lower(), "none"))


def read_relation(path: str | Path) -> Relation:
    """A file's relation in memory, values as text and empty cells null (Parquet keeps its types)."""
    file = scan_relation(path)
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
        options = pyarrow.csv.WriteOptions(delimiter=kind, quoting_style="needed")
        with create_text(file) as stream:
            pyarrow.csv.write_csv(relation.table, stream, options)
    except OSError as error:
        raise FileError(f"{file} cannot be written ({_first_line(error)})") from None


def kind_to_write(file: Path) -> str:
    """What a name says of the file to be written: PARQUET, or the delimiter of a text."""
    known = [s.lower() for s in file.suffixes if s.lower() in {*_SUFFIXES, ".parquet"}]
    if not known or (file.suffix.lower() != known[-1] and file.suffix.lower() not in COMPRESSED):
        raise FileError(f"{file.name}: cannot tell what to write; end the name in .csv, .tsv or .parquet (.gz, .zst)")
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


def _csv_header(file: Path) -> tuple[list[str], str]:
    """The column names and the delimiter: of the usual ones, the one that cuts the header most often."""
    try:
        with open_text(file) as stream:
            start = stream.read(_HEADER_BYTES)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{file.name} cannot be read ({_first_line(error)})") from None
    if not start.strip():
        raise FileError(f"{file.name} is empty; a relation needs a header and at least one row")
    if b"\0" in start:
        raise FileError(f"{file.name} is neither text nor Parquet; give a CSV, TSV or Parquet file")
    text = _decode(file, start)
    header = _first_record(text)
    if header.count('"') % 2:
        raise FileError(f"{file.name}, line 1: a quoted field that does not end as one")
    outside = Counter(_unquoted(header))
    tabs = any(suffix.lower() in (".tsv", ".tab") for suffix in file.suffixes)
    delimiter = "\t" if tabs else max(DELIMITERS, key=lambda d: outside[d])
    try:
        return next(csv.reader([header], delimiter=delimiter)), delimiter
    except csv.Error as error:
        raise FileError(f"{file.name}, line 1: the header cannot be read ({error})") from None


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


def _decode(file: Path, start: bytes) -> str:
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start > len(start) - 4 and len(start) == _HEADER_BYTES:  # cut in the middle of a character
            return start[: error.start].decode("utf-8-sig")
        line = start.count(b"\n", 0, error.start) + 1
        raise FileError(
            f"{file.name}, line {line}: bytes that are not UTF-8; convert the file, for example with iconv"
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
