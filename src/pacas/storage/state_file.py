"""What a ledger held when it was last seen, in a file beside it: that it was there, and its head.

A ledger cannot say of itself that an older copy was put in its place, or that it was taken away. This file can, as long
as it is not put back with it: so a copy of a ledger leaves it out. It is one line, ENTRIES:HASH, as `pacas audit`
prints it; a line that begins with 0: says, as a missing file does, that there was none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from threading import Lock
from time import monotonic

from pacas.errors import StorageError
from pacas.provider.ledger.chain import Head, noted_head

SELDOM = 10.0
"""Seconds between two notes: an older one is as true, and less telling."""


class StateFile:
    """The state file of one ledger. It may be used from several threads, and by several processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._due = 0.0

    def head(self) -> Head | None:
        """The head that was noted; None if there was no ledger."""
        try:
            text = self.path.read_text("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"the state file {self.path.name} cannot be read ({error.strerror})") from None
        head = noted_head(text)
        if head is None:
            raise StorageError(
                f"the state file {self.path.name} does not say which head the ledger had; "
                "compare the ledger with a head that you know (pacas audit --head), and then remove the file"
            )
        return head if head.entries else None

    def note(self, head: Head) -> None:
        """Note a head that is in the ledger to stay, now and then; a sale does not fail where that cannot be done."""
        with self._lock:
            if monotonic() < self._due:
                return
            self._due = monotonic() + SELDOM
        with suppress(StorageError):
            self.write(head)

    def write(self, head: Head) -> None:
        """Note a head now; the file stands there whole, before or after."""
        try:
            descriptor, name = mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
            with os.fdopen(descriptor, "w") as made:
                made.write(f"{head.entries}:{head.hash}\n")
                made.flush()
                os.fsync(made.fileno())
            os.replace(name, self.path)
        except OSError as error:
            raise StorageError(f"the state file {self.path.name} cannot be written ({error.strerror})") from None
