"""Tables that Spark knows by name, and folders that it reads, as relations whose rows a key numbers."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession, types

from pacas.core.relation import check_columns
from pacas.engine.contract import KeyedFrame, RelationFolder
from pacas.engine.folder import DELTA, parquet_files, partition_kinds
from pacas.errors import FileError

_KINDS: dict[str, types.DataType] = {
    "BIGINT": types.LongType(),
    "DOUBLE": types.DoubleType(),
    "DATE": types.DateType(),
    "VARCHAR": types.StringType(),
}
"""What a value of a partition's name is, by what it is to the embedded engine."""


def scan_table(session: SparkSession, table: str, key: tuple[str, ...], format: str | None = None) -> KeyedFrame:
    """A table by its name (`lake.people`), or a folder of Parquet or Delta files by its path."""
    frame = session.read.format(format or _format(table)).load(table) if _is_path(table) else session.table(table)
    check_columns(frame.columns, table)
    return KeyedFrame(frame, key, table)


def scan_folder(session: SparkSession, path: str, folder: RelationFolder) -> KeyedFrame:
    """A local folder of Parquet files, by a path that Spark finds it under: what it is to the embedded engine."""
    partitions = partition_kinds(folder.path, parquet_files(folder.path))
    reader = session.read.option("pathGlobFilter", "*.parquet")
    schema = reader.parquet(path).schema
    for column, kind in partitions.items():
        schema[column].dataType = _KINDS[kind]
    frame = reader.schema(schema).parquet(path)
    return KeyedFrame(frame, folder.key, folder.name)


def _is_path(table: str) -> bool:
    """Whether a text is a path: it has a separator, which a table's name has not, or it is there."""
    return "/" in table or "\\" in table or Path(table).is_dir()


def _format(path: str) -> str:
    if "://" not in path and not Path(path).exists():
        raise FileError(f"{path} does not exist; give a folder of Parquet files, or the name of a Spark table")
    return "delta" if Path(path, DELTA).is_dir() else "parquet"
