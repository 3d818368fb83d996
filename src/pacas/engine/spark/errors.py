"""What Spark says about a relation, as one line of ours: its own words may quote a cell, and are long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from pacas.engine.files.watched_files import changed
from pacas.errors import FileError, InputError, PacasError

GONE = ("FILE_NOT_EXIST", "FileNotFoundException")
NOWHERE = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
NO_READER = ("DATA_SOURCE_NOT_FOUND",)
ENDED = ("SparkContext was shut down", "stopped SparkContext", "SparkContext has been shutdown", "Connection refused")
CANCELLED = ("SPARK_JOB_CANCELLED", "cancelled")
LOST = ("ExecutorLostFailure", "FetchFailed", "MetadataFetchFailed")
NO_ROOM = ("OutOfMemoryError", "maxResultSize", "No space left")


@contextmanager
def reading(called: str) -> Iterator[None]:
    """Turn what Spark says about a relation into an error of ours."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError, duckdb.Error) as error:
        raise _reworded(called, error) from None


def _reworded(called: str, error: Exception) -> PacasError:
    message = f"{type(error).__name__} {error}"
    if _says(message, GONE):
        return changed(called)
    if _says(message, NOWHERE):
        return FileError(
            f"{called} is not there, or holds no data; give a Spark table's name, or a path that Spark reads"
        )
    if _says(message, NO_READER):
        return FileError(f"{called}: Spark has no reader for it here; for Delta, add delta-spark to the session")
    if _says(message, ENDED):
        return InputError(f"{called}: Spark has stopped, or cannot be reached any more; start it, then begin again")
    if _says(message, CANCELLED):
        return InputError(f"{called}: the Spark job was cancelled; begin again")
    if _says(message, LOST):
        return InputError(f"{called}: Spark has lost an executor too often; look at its log, then begin again")
    if _says(message, NO_ROOM):
        return InputError(f"{called}: Spark ran out of memory or disk; give its driver or executors more")
    return FileError(f"{called}: Spark cannot read it ({_kind(error)}); is it complete, and of the kind its name says?")


def _says(message: str, words: tuple[str, ...]) -> bool:
    return any(word in message for word in words)


def _kind(error: Exception) -> str:
    """What Spark calls the mistake, if it has a name for it."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return condition or type(error).__name__
