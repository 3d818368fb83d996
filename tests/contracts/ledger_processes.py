"""Processes that append to one ledger, for its contract suite: `append` does so in peace, `kill` is shot while it does.

Run as a script, so that no thread of the tests is forked along; everything it needs is imported once.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pacas.protocol.messages import Request
from pacas.provider.ledger.entry import Purchase
from pacas.storage.url import open_ledger


def purchase(buyer: str, number: int) -> Purchase:
    request = Request({"GEN": "male", "AGE": str(number)}, "MED", 0)
    return Purchase(buyer, f"{buyer}-{number}", request, number, "ibuprofen", (number, number + 3))


def append(url: str, processes: int, each: int) -> None:
    """Several processes append at the same time; each reads, inside a transaction, what it then relies on."""

    def work(name: str) -> None:
        ledger = open_ledger(url, Path())
        for number in range(each):
            with ledger.transaction():
                expected = ledger.head().entries
                assert ledger.append(purchase(name, number)).sequence == expected

    children = [fork(lambda n=n: work(f"buyer {n}")) for n in range(processes)]  # type: ignore[misc]
    if any(os.waitpid(child, 0)[1] for child in children):
        sys.exit("a child failed")


def kill(url: str, rounds: int, at_once: int) -> None:
    """In every round some processes append until they are killed; what they acknowledged is printed."""
    chance = random.Random(7)
    for round_ in range(rounds):
        reading, writing = os.pipe()
        children = [
            fork(lambda n=n, w=writing, r=round_: append_until_killed(url, f"{r}.{n}", w))  # type: ignore[misc]
            for n in range(at_once)
        ]
        os.close(writing)
        seen = read_for(reading, chance.uniform(0.005, 0.12))
        for child in children:
            os.kill(child, signal.SIGKILL)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        with open(reading, "rb") as rest:
            seen += rest.read()
        print("\n".join(seen.decode().split()))


def append_until_killed(url: str, name: str, acknowledged: int) -> None:
    ledger = open_ledger(url, Path())
    number = 0
    while True:
        entry = ledger.append(purchase(name, number))
        os.write(acknowledged, f"{name}-{number}:{entry.sequence}:{entry.hash}\n".encode())
        number += 1


def read_for(reading: int, seconds: float) -> bytes:
    """Wait for a first line, and then go on reading for a while."""
    seen = os.read(reading, 1 << 16)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        seen += os.read(reading, 1 << 16)
    return seen


def fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


if __name__ == "__main__":
    {"append": append, "kill": kill}[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
