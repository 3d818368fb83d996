"""A file to which lines are added, each chained to those before.

That of a run that was done is the record of what was paid, until there is another: a new run leaves it where it is up
to its own first order, or its end. What the new run has to say before that is held, written beside the old file, and
put in its place in one step.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import RLock

from pacas.errors import FileError
from pacas.formats.journal.lines import Chain
from pacas.formats.replacing import partial_name, sync_folder

if sys.platform != "win32":
    import fcntl

Sync = Callable[[int], None]
SYNC: Sync = getattr(os, "fdatasync", os.fsync)


class JournalFile:
    """A journal on disk, which no other run writes meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _open_alone(path)
        self._held: bytearray | None = None
        self._chain: Chain | None = None
        self.one_at_a_time = RLock()
        """Edits come from other threads than the run's."""

    def content(self) -> bytes:
        with open(self._file, "rb", closefd=False) as stream:
            stream.seek(0)
            return stream.read()

    @property
    def is_held(self) -> bool:
        """Is all that was added held back, for the sake of an earlier run's file?"""
        return self._held is not None

    def begin(self, header: bytes, chain: Chain, *, hold: bool) -> None:
        """Add the first line, in the place of all that is there; `hold` it, if an earlier run's file is to stay."""
        if hold:
            self._held = bytearray()
        else:
            os.ftruncate(self._file, 0)
        self.add(header, os.fsync)
        sync_folder(self.path.parent)
        self._chain = chain

    def go_on(self, length: int, chain: Chain | None) -> None:
        """Add to what is there, so far as it is whole."""
        os.ftruncate(self._file, length)
        self._chain = chain

    def add(self, line: bytes, sync: Sync | None = None) -> None:
        """Write a line, or hold it while there is an earlier run's file."""
        with self.one_at_a_time:
            linked = self._linked(line)
            if self._held is None:
                self._write(linked, sync)
            else:
                self._held += linked
            self._follow(linked)

    def record(self, lines: bytes, sync: Sync = SYNC) -> None:
        """Have lines on disk, and with them all that was held."""
        with self.one_at_a_time:
            linked = self._linked(lines)
            if self._held is None:
                self._write(linked, sync)
            else:
                self._replace_the_old(bytes(self._held) + linked)
                self._held = None
            self._follow(linked)

    def remove(self) -> None:
        """Take the file away; an earlier run's stays."""
        if self._held is None:
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _linked(self, lines: bytes) -> bytes:
        return lines if self._chain is None else self._chain.linked(lines)

    def _follow(self, written: bytes) -> None:
        if self._chain is not None:
            for line in written.splitlines():
                self._chain.follow(line)

    def _replace_the_old(self, content: bytes) -> None:
        """Put this run's file in the place of the one that was done."""
        beside, old = partial_name(self.path), self._file
        beside.unlink(missing_ok=True)  # a run that was killed may have left one; no other run is here now
        self._file = _open_alone(beside)
        try:
            self._write(content, os.fsync)
            os.replace(beside, self.path)
            sync_folder(self.path.parent)
        except BaseException as error:
            self.close()
            self._file = old
            beside.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._refused(error) from None
            raise
        os.close(old)

    def _write(self, lines: bytes, sync: Sync | None) -> None:
        try:
            while lines:
                lines = lines[os.write(self._file, lines) :]
            if sync is not None:
                sync(self._file)
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> FileError:
        return FileError(f"{self.path} cannot be written ({error.strerror})")


def _open_alone(path: Path) -> int:
    """The file, made if it is not there, and kept from other runs as long as this one lives."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        raise FileError(f"{path}, the journal, cannot be written ({error.strerror})") from None
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_here = os.path.samestat(os.fstat(file), os.stat(path))
        except OSError:
            is_here = False
        if not is_here:  # or it was here a moment ago, and has been replaced or taken away
            os.close(file)
            raise FileError(f"{path}: another run is writing it; wait for its end, or give another --output")
    return file
