"""A Delta table on a Spark without Delta's package: the Parquet files that its log names, as it says what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as F

from pacas.engine.contract import RelationFolder
from pacas.engine.files.delta_lake import DeltaLog
from pacas.engine.files.watched_files import changed
from pacas.engine.spark.text import quoted
from pacas.errors import FileError

_FILE = "pacas file"
"""How our own column of a file's name is called, beside those of the table."""
_SCHEME = "^file:/+"


def logged_frame(session: SparkSession, path: str, folder: RelationFolder, log: DeltaLog) -> DataFrame:
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
