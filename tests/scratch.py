"""Where tests write: in memory, where there is room, as whoever makes a ledger or sells waits for the disk otherwise.

Processes are killed here, and no machine: what a process has written stays, whatever becomes of it. TMPDIR names
another place.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that must be free; all tests together leave less."""


@pytest.hookimpl(tryfirst=True)  # before the first folder is made, and before further processes start
def pytest_configure() -> None:
    if "TMPDIR" not in os.environ and has_room(IN_MEMORY):
        os.environ["TMPDIR"] = str(IN_MEMORY)
        tempfile.tempdir = None  # so that it is asked for again


def has_room(folder: Path) -> bool:
    """Whether files can be written and run there, and many of them."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= ROOM
