"""Texts in other encodings than UTF-8, read as if they were in it."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from pacas.engine.contract import RelationFile
from pacas.errors import FileError, InputError

UTF_8 = "utf-8"
_PIECE = 1 << 20


def encoding_named(name: str) -> str:
    """An encoding as Python calls it.

    >>> encoding_named("Latin1"), encoding_named("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)
    except (LookupError, ValueError, TypeError):
        raise InputError(f"no encoding {name!r}; such as utf-8, latin-1, cp1252, utf-16") from None
    return UTF_8 if found.name == "utf-8-sig" else found.name


@contextmanager
def in_utf8(file: RelationFile) -> Iterator[RelationFile]:
    """A text as it is, or for a while a copy of it in UTF-8, for its owner's eyes only."""
    if file.encoding == UTF_8:
        yield file
        return
    with TemporaryDirectory(prefix="pacas-") as folder:
        copied = Path(folder) / "text.csv"
        _copy(file, copied)
        yield replace(file, path=copied, encoding=UTF_8, compression="none")


def _copy(file: RelationFile, copied: Path) -> None:
    decoder = codecs.getincrementaldecoder(file.encoding)()
    compression = None if file.compression == "none" else file.compression
    lines = 1
    with (
        pa.input_stream(str(file.path), compression=compression) as stream,
        os.fdopen(os.open(copied, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out,
    ):
        while True:
            piece = stream.read(_PIECE)
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeError:
                raise undecodable(file.name, lines, file.encoding) from None
            lines += text.count("\n")
            out.write(text.encode())
            if not piece:
                return


def undecodable(name: str, line: int, encoding: str) -> FileError:
    return FileError(f"{name}, after line {line}: bytes that are not {encoding}; say how the file is encoded")
