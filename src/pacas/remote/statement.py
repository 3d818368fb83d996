"""An account at a provider, as its owner sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pacas.protocol.messages import Answer, Request


@dataclass(frozen=True, slots=True)
class PastPurchase:
    """What was bought before, under which idempotency key."""

    key: str = field(repr=False)
    request: Request = field(repr=False)
    answer: Answer = field(repr=False)


@dataclass(frozen=True, slots=True)
class Statement:
    """What an account may spend, has spent and has bought; money in nanocredits, None where there is no limit."""

    account: str
    role: str
    credit: int | None
    spent: int
    remaining: int | None
    purchases: tuple[PastPurchase, ...] = field(repr=False)
    """In the order in which they were made."""
