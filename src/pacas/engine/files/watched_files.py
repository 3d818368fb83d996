"""How it is noticed that the files of a relation are others than they were when it was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pacas.engine.contract import RelationFile, RelationFolder, Source
from pacas.engine.files.folder import watched_files
from pacas.errors import InputError


def changed(called: str) -> InputError:
    """A relation that is another one than a moment ago."""
    return InputError(f"{called} has changed since it was first read; let its writers finish, then begin again")


class WatchedFiles:
    """The local files that a relation is read from, as they were when it was first opened."""

    def __init__(self, paths: Iterable[Path] | Callable[[], Iterable[Path]], called: str) -> None:
        """`paths` may be a function that lists them, so that one more or less is noticed, too."""
        listed = paths if callable(paths) else tuple(paths)
        self._list: Callable[[], Iterable[Path]] = listed if callable(listed) else lambda: listed
        self._called = called
        self._before = self._now()

    @classmethod
    def of_source(cls, source: Source) -> WatchedFiles:
        """Those that are read again with every question: Parquet files. A text is read once."""
        match source:
            case RelationFile(format="parquet"):
                return cls([source.path], source.name)
            case RelationFolder():
                return cls(lambda: watched_files(source.path), source.name)
            case _:
                return cls([], source.name)

    def check(self) -> None:
        if self._now() != self._before:
            raise changed(self._called)

    def _now(self) -> list[tuple[Path, tuple[int, int] | None]] | None:
        try:
            return [(path, stamp(path)) for path in self._list()]
        except InputError:  # the folder is gone, or is no folder of Parquet files any more
            return None


def stamp(path: Path) -> tuple[int, int] | None:
    """What changes with a file: its length, and when it was last written; None where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
