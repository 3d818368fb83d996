"""What a relation is told by from one that has changed: a file by its bytes, a table in memory by its values."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from pacas.core.relation import Relation
from pacas.engine.contract import KeyedFrame, RelationFolder, Source
from pacas.engine.files.folder import contents
from pacas.errors import FileError, InputError


def source_digest(source: Source) -> str:
    """A relation's SHA-256, in hexadecimal: of a file's bytes, a folder's files and their names, a table's texts."""
    if isinstance(source, KeyedFrame):
        raise InputError(f"{source.name} is a frame of Spark's; give the Spark engine, which alone can tell it apart")
    if isinstance(source, Relation):
        return _table(source.table)
    if isinstance(source, RelationFolder):
        return _folder(source)
    read_as = [source.encoding, source.nulls, source.sheet]
    if read_as == ["utf-8", (), ""]:
        return _file(source.path)
    return hashlib.sha256(json.dumps([_file(source.path), *read_as]).encode()).hexdigest()


def _file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror})") from None


def _folder(folder: RelationFolder) -> str:
    digest, held = hashlib.sha256(), contents(folder.path)
    for file in held.files:
        name = file.relative_to(folder.path).as_posix()
        digest.update(f"{len(name)} {name} {_file(file)}".encode())
    if held.log is not None:  # its columns and partitions need not show in its files
        digest.update(json.dumps([held.log.spelled, list(held.partitions.values())], sort_keys=True).encode())
    return digest.hexdigest()


def _table(table: pa.Table) -> str:
    import pyarrow.compute as pc  # here: slow to import, and most questions do without

    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"{len(name)} {name} {len(column)}".encode())
        texts = column.cast(pa.large_string())
        lengths = pc.fill_null(pc.binary_length(texts), -1).combine_chunks()
        digest.update(np.frombuffer(lengths.buffers()[1], np.int64, len(lengths), 8 * lengths.offset).tobytes())
        for chunk in pc.fill_null(texts, "").chunks:
            ends = np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, 8 * chunk.offset)
            digest.update(memoryview(chunk.buffers()[2] or b"")[ends[0] : ends[-1]])
    return digest.hexdigest()
