"""New files, all of them or none; nothing that is there is ever written over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pacas.errors import FileError
from pacas.formats.replacing import check_writable


def check_new(paths: Iterable[Path]) -> None:
    """Raise if one of the files is there already, or could not be written."""
    for path in paths:
        if os.path.lexists(path):
            raise FileError(
                f"{path} is there already, and nothing is written over it; remove it, or give an --output elsewhere"
            )
        if path.parent.is_dir():
            check_writable(path)


def write_new(files: Mapping[Path, bytes]) -> None:
    """Write all files, or none: what was written is taken away again where another one cannot be."""
    written: list[Path] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as new:
                written.append(path)
                new.write(content)
    except BaseException as error:
        for path in written:
            path.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            check_new([Path(error.filename)])
        if isinstance(error, OSError):
            raise FileError(f"{error.filename or path} cannot be written ({error.strerror})") from None
        raise
