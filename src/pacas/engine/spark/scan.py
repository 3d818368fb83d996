"""Tables that Spark knows by name, and folders that it reads, as relations whose rows a key numbers.

A Delta table on a Spark without Delta's package is the Parquet files that its log names, as it says what they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as F

from pacas.core.relation import check_columns
from pacas.engine.contract import KeyedFrame, RelationFolder
from pacas.engine.files.delta_lake import LOG, DeltaLog, is_delta
from pacas.engine.files.folder import contents
from pacas.engine.files.folder import scan_folder as checked_folder
from pacas.engine.files.watched_files import changed
from pacas.engine.spark.errors import NO_READER
from pacas.engine.spark.text import quoted
from pacas.errors import FileError, InputError

_KINDS: dict[str, types.DataType] = {
    "BIGINT": types.LongType(),
    "DOUBLE": types.DoubleType(),
    "DATE": types.DateType(),
    "VARCHAR": types.StringType(),
}
"""What a value of a partition's name is, by what it is to the embedded engine."""
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(//[^/]*)?/+")
"""How an address begins that is no local path: `file:/`, `dbfs:/`, `s3://lake/`."""
_BY_LOG = "delta, by its log"
_FILE = "pacas file"
"""How our own column of a file's name is called, beside those of the table."""
_SCHEME = "^file:/+"


def scan_table(session: SparkSession, table: str, key: tuple[str, ...], format: str | None = None) -> KeyedFrame:
    """A table by its name (`lake.people`), or a folder of Parquet or Delta files by its path or address."""
    if _is_path(table):
        format = format or _format(session, table)
        if format == _BY_LOG:
            folder = _local(table)
            return scan_folder(session, str(folder), checked_folder(folder, key))
        frame = session.read.format(format).load(table)
    else:
        frame = session.table(table)
    check_columns(frame.columns, table)
    return KeyedFrame(frame, key, table)


def has_delta(session: SparkSession) -> bool:
    """Whether Delta's own package is on the class path, and Spark has a reader of it."""
    try:
        session.read.format("delta").load()
    except (PySparkException, Py4JError) as error:
        return not any(word in str(error) for word in NO_READER)
    return True


def scan_folder(session: SparkSession, path: str, folder: RelationFolder) -> KeyedFrame:
    """A local folder of Parquet files, by a path that Spark finds it under: what it is to the embedded engine."""
    held = contents(folder.path)
    if held.log is not None:
        return KeyedFrame(_logged_frame(session, path, folder, held.log), folder.key, folder.name)
    reader = session.read.option("pathGlobFilter", "*.parquet")
    schema = reader.parquet(path).schema
    for column, kind in held.kinds.items():
        schema[column].dataType = _KINDS[kind]
    frame = reader.schema(schema).parquet(path)
    return KeyedFrame(frame, folder.key, folder.name)


def _is_path(table: str) -> bool:
    """Whether a text is a path: it has a separator, which a table's name has not, or it is there."""
    return "/" in table or "\\" in table or Path(table).is_dir()


def _format(session: SparkSession, path: str) -> str:
    """What a folder holds; a Delta table is read by its log here where Spark has no reader of it."""
    address = bool(_ADDRESS.match(path))
    if not address and not Path(path).exists():
        raise FileError(f"{path} does not exist; give a folder of Parquet files, or the name of a Spark table")
    if not (_has_log(session, path) if address else is_delta(Path(path))):
        return "parquet"
    return "delta" if has_delta(session) else _BY_LOG


def _has_log(session: SparkSession, address: str) -> bool:
    """Whether a folder somewhere is a Delta table; of one that is not to be had, Spark's own read says why."""
    jvm: Any = session._jvm
    try:
        log = jvm.org.apache.hadoop.fs.Path(address, LOG)
        files = log.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        return bool(files.exists(log) or files.globStatus(log))
    except (PySparkException, Py4JError):
        return False


def _local(path: str) -> Path:
    """The folder of a Delta table, for its log to be read here."""
    found = _ADDRESS.match(path)
    if found and found["scheme"] != "file":
        raise InputError(
            f"{path} is a Delta table, whose log says which of its files count; "
            "put Delta's package on the class path of Spark"
        )
    return Path("/" + path[found.end() :] if found else path).resolve()


# ---- Delta tables, by their logs -------------------------------------------------------------------------------------


def _logged_frame(session: SparkSession, path: str, folder: RelationFolder, log: DeltaLog) -> DataFrame:
    """A folder's frame, by what its log says; `path` is where Spark finds the folder."""
    if tuple(log.schema.names) != folder.columns:
        raise changed(folder.name)
    schema = types.StructType.fromJson(json.loads(log.spelled))
    columns = {field.name: types.StructField(field.name, field.dataType) for field in schema.fields}
    own = types.StructType([column for name, column in columns.items() if name not in log.partitions])
    others = types.StructType([types.StructField(_FILE, types.StringType()), *(columns[c] for c in log.partitions)])
    files = {f"{path}/{file.relative_to(folder.path).as_posix()}": values for file, values in log.files.items()}
    frame = session.read.option("globPaths", "false").schema(own).parquet(*files)
    spelled = {unquote(urlsplit(name).path): name for name in frame.inputFiles()}
    if spelled.keys() != files.keys():
        raise FileError(f"{folder.path} has files that Spark does not see; do names in its log begin with _ or a dot?")
    if not log.partitions:
        return frame
    values = _values({spelled[name]: values for name, values in files.items()}, log)
    return _partitioned(frame, session.createDataFrame(values, others), log)


def _values(files: Mapping[str, Mapping[str, str | None]], log: DeltaLog) -> pa.Table:
    """The values of partitions, by the file that has them."""
    names = {_FILE: pa.array([re.sub(_SCHEME, "/", name) for name in files], pa.string())}
    texts = {c: pa.array([values[c] for values in files.values()], pa.string()) for c in log.partitions}
    return pa.table(names | {c: column.cast(log.schema.field(c).type) for c, column in texts.items()})


def _partitioned(frame: DataFrame, values: DataFrame, log: DeltaLog) -> DataFrame:
    """Files' rows with the values of their partitions; all columns in the table's order."""
    by_file = frame.withColumn(f"{_FILE}'s", F.regexp_replace("_metadata.file_path", _SCHEME, "/"))
    same = F.col(quoted(_FILE)) == F.col(quoted(f"{_FILE}'s"))
    joined = by_file.join(F.broadcast(values), on=same, how="left")
    known = F.col(quoted(_FILE)).isNotNull()
    unknown = F.raise_error(F.lit("a file whose partition is not known"))
    return joined.select(
        *(
            F.when(known, F.col(quoted(c))).otherwise(unknown).alias(c) if c in log.partitions else F.col(quoted(c))
            for c in log.schema.names
        )
    )
