"""An account as its owner sees it: what it may spend, has spent, and has bought."""

from __future__ import annotations

from dataclasses import dataclass, field

from pacas.core.rates.schedule import LIST, Schedule
from pacas.core.rates.tab import AgreedTerms
from pacas.protocol.messages import Answer, Request


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One purchase of an account: what was asked and answered, under which idempotency key."""

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
    purchases: tuple[StatementLine, ...] = field(repr=False)
    """In the order in which they were made."""
    listed: int = 0
    """List credits: what all purchases cost by the list."""
    schedule: Schedule = LIST
    """What list prices cost the account: everybody's rates, or its own."""
    terms: AgreedTerms | None = None
    """Its own terms, as long as they last."""
    unused: int = 0
    """What is prepaid by them and not used."""
