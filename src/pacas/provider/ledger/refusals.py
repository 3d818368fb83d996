"""What was refused: whom, why, and how often in which hour. What was asked for is not kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

HOUR = 3600
"""Seconds."""


class RefusalCount(NamedTuple):
    """So many refusals to one account for one reason within an hour."""

    hour: int
    """Hours since 1970, UTC."""
    account: str
    """Empty, if it is nobody's: no token of an account came with the call."""
    reason: str
    refused: int


class Refusals(Protocol):
    """Where refusals are counted: in the ledger's own database, by all processes together."""

    def add(self, counts: Sequence[RefusalCount]) -> None:
        """Count more refusals; those of the same hour, account and reason add up."""

    def since(self, hour: int) -> list[RefusalCount]:
        """All that were counted from an hour on, in order."""

    def close(self) -> None:
        """Let go of the store."""
