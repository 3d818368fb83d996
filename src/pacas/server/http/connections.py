"""Connections before anything is known of who has made them: how many an address may have, and how long they may wait.

All of it is for those without a token. A call that is being answered is never cut off here, however long it takes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Protocol

SWEEP = 1.0
"""The most seconds between two looks at who has waited too long."""
LINGER = 5.0
"""Seconds in which the rest of a body may come, and is dropped, after the call that it is of has been answered."""
PROGRESS = 64 * 1024
"""Bytes of an answer that a client must take, or all of it, to be given as long as an idle one again."""

Note = Callable[[str, str, int], None]
"""Is told of connections that were ended: the address, why, how many."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, and how long each may wait for its client."""

    per_address: int = 128
    """Of an IPv6 address its network of 64 bits counts. A proxy in front is one address."""
    in_all: int = 10_000
    idle_seconds: float = 20.0
    """Without a request, without taking an answer, or without agreeing on TLS."""
    request_seconds: float = 60.0
    """From a request's first byte to its last."""


USUAL = ConnectionLimits()


class Connected(Protocol):
    """A connection, as far as it is counted."""

    address: str
    since: float
    """When it began to wait for what it waits for."""
    unsent: int
    """Bytes that its client had not taken when that was last looked at."""

    @property
    def is_answering(self) -> bool:
        """Whether a whole request is there, and its answer is not."""

    @property
    def is_asking(self) -> bool:
        """Whether a request has begun and not ended."""

    @property
    def is_lingering(self) -> bool:
        """Whether that request has been answered nevertheless."""

    def left_to_send(self) -> int:
        """Bytes of answers that its client has not taken yet."""

    def hang_up(self) -> None:
        """End it now, whatever is not sent yet."""


class Connections:
    """All connections of a server, by address."""

    def __init__(self, limits: ConnectionLimits = USUAL, note: Note = lambda *said: None) -> None:
        self._limits, self._note = limits, note
        self._open: dict[str, set[Connected]] = {}
        self._count = 0
        self._ended: Counter[tuple[str, str]] = Counter()
        self._is_sweeping = False

    def admit(self, connection: Connected) -> bool:
        """Count a connection in. Of too many, the one that has waited longest ends; if all are at work, the new one."""
        here = self._open.setdefault(connection.address, set())
        if len(here) >= self._limits.per_address and not self._end_one_of(here):
            return self._refused(connection)
        if self._count >= self._limits.in_all and not self._end_one_of(max(self._open.values(), key=len)):
            return self._refused(connection)
        self._open.setdefault(connection.address, set()).add(connection)
        self._count += 1
        if not self._is_sweeping:
            self._is_sweeping = True
            self._sweep_later()
        return True

    def leave(self, connection: Connected) -> None:
        """Count a connection out, if it was counted in."""
        here = self._open.get(connection.address)
        if here is None or connection not in here:
            return
        here.remove(connection)
        self._count -= 1
        if not here:
            del self._open[connection.address]

    def _end_one_of(self, connections: set[Connected]) -> bool:
        waiting = [one for one in connections if not one.is_answering]
        if not waiting:
            return False
        self._end(min(waiting, key=lambda one: one.since), "too many")
        return True

    def _refused(self, connection: Connected) -> bool:
        self._ended[connection.address, "too many"] += 1
        if not self._open[connection.address]:
            del self._open[connection.address]
        return False

    def _end(self, connection: Connected, why: str) -> None:
        self._ended[connection.address, why] += 1
        connection.hang_up()
        self.leave(connection)

    def _sweep_later(self) -> None:
        limits = self._limits
        seconds = min(SWEEP, limits.idle_seconds / 2, limits.request_seconds / 2)
        asyncio.get_running_loop().call_later(seconds, self._sweep)

    def _sweep(self) -> None:
        """End what has waited too long, and tell of it, a line for an address."""
        now = asyncio.get_running_loop().time()
        for connection in [one for here in self._open.values() for one in here if not one.is_answering]:
            left = connection.left_to_send()
            if (connection.unsent and not left) or left <= connection.unsent - PROGRESS:
                connection.since = now
            connection.unsent = left if connection.since == now or not connection.unsent else connection.unsent
            if now - connection.since > self._allowed(connection):
                self._end(connection, "too slow" if connection.is_asking or left else "idle")
        for (address, why), count in self._ended.items():
            if why != "idle":  # which is how most connections end
                self._note(address, why, count)
        self._ended.clear()
        self._is_sweeping = bool(self._open)
        if self._is_sweeping:
            self._sweep_later()

    def _allowed(self, connection: Connected) -> float:
        if connection.is_lingering:
            return min(LINGER, self._limits.request_seconds)
        return self._limits.request_seconds if connection.is_asking else self._limits.idle_seconds


def counted_address(host: str | None) -> str:
    """What is counted as one address.

    >>> counted_address("192.0.2.7"), counted_address("2001:db8:1:2:3:4:5:6"), counted_address("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8:1:2::', '192.0.2.7')
    """
    try:
        address = ip_address((host or "").partition("%")[0])
    except ValueError:  # no network's
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
