"""Files that are made once: they stand there whole or not at all, and only their owner can read them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp


@contextmanager
def made_once(path: Path) -> Iterator[Path]:
    """Where to fill the new file, and sync it; a file that another process made first is kept. OSErrors pass."""
    descriptor, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)  # readable by its owner only
    os.close(descriptor)
    made = Path(name)
    try:
        yield made
        with suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
