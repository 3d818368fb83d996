"""A process that serves a ledger, noted there: so that it is known to be writable, and by all who serve it alike.

The note is renewed every few seconds, a durable write like a sale's: a ledger that is locked, full or read-only is
noticed before somebody wants to buy. Processes that would tell clients different things do not serve one ledger.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping
from time import monotonic, time
from typing import Protocol
from uuid import uuid4

from pacas.errors import InputError, StorageError

BEAT = 2.0
"""Seconds between two notes."""
FRESH = 5.0
"""Seconds without a note that could be written after which a process is not ready."""
GONE = 15.0
"""Seconds after which a process that has left no word is taken for gone."""


class ServingProcesses(Protocol):
    """Where processes are noted: in the ledger's own database."""

    def note(self, process: str, terms: str, seen: int) -> None:
        """A process serves now, on these terms."""

    def others(self, process: str, since: int) -> list[tuple[str, str]]:
        """All other processes that were seen since, and their terms."""

    def forget(self, process: str) -> None:
        """A process serves no more."""

    def close(self) -> None:
        """Let go of the store."""


class Presence:
    """This process among those that serve a ledger. `terms` are what all of them must have alike, by name."""

    def __init__(
        self, processes: ServingProcesses, terms: Mapping[str, str], clock: Callable[[], float] = monotonic
    ) -> None:
        self._processes, self._terms, self._clock = processes, dict(terms), clock
        self._name = f"{socket.gethostname()} {os.getpid()} {uuid4().hex}"
        self._written: float | None = None
        self._noted = 0.0
        """When that was by the calendar, which goes on while the machine sleeps."""
        self.is_displaced = False
        """Whether others serve on other terms since this process was taken for gone."""

    @property
    def is_fresh(self) -> bool:
        """Whether the ledger could be written to a moment ago."""
        return self._written is not None and self._clock() - self._written < FRESH

    def enter(self) -> None:
        """Serve from now on; an InputError, if somebody serves the ledger on other terms."""
        self._note()
        if differing := self._differing():
            self.leave()
            raise InputError(
                f"another process serves this ledger with another {', '.join(differing)}, and clients would be "
                f"told different things; stop it first (one that was killed is forgotten after {GONE:.0f} s)"
            )

    def renew(self) -> None:
        """Write that this process serves still; a StorageError, if that cannot be written.

        Who could not for so long that it was taken for gone, as one that was paused or cut off from its database,
        serves nothing while somebody does so on other terms.
        """
        if time() - self._noted > GONE - BEAT:
            differing = self._differing()
            self.is_displaced = bool(differing)
            if differing:
                self._written = None
                raise StorageError(
                    f"the ledger is served with another {', '.join(differing)} since this process was taken for gone"
                )
        self._note()

    def _note(self) -> None:
        self._processes.note(self._name, json.dumps(self._terms), int(now := time()))
        self._written, self._noted = self._clock(), now

    def _differing(self) -> list[str]:
        """The terms in which others who serve differ from this process."""
        others = self._processes.others(self._name, int(time() - GONE))
        found = (json.loads(told) for process, told in others if not _has_ended(process))
        each = [
            name for terms in found for name in {**self._terms, **terms} if self._terms.get(name) != terms.get(name)
        ]
        return list(dict.fromkeys(each))

    def leave(self) -> None:
        """Serve no more."""
        self._processes.forget(self._name)


def _has_ended(process: str) -> bool:
    """Whether a process of this machine is surely gone."""
    host, number, _ = process.rsplit(" ", 2)
    if host != socket.gethostname() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return False
