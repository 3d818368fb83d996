"""What the parties say to each other: Request, Quote, Refusal, Answer. Plain values; no JSON here.

Paper: §4.2, Figure 3. AskPrice is a Request answered by a Quote or a Refusal; Pay turns a Request into an Answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a request is refused, in the order in which the provider checks (D4)."""

    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    UNSAFE = "unsafe"
    CREDIT = "credit"


@dataclass(frozen=True, slots=True)
class Request:
    """r = (t, A, l): the value of attribute A for the client's tuple t, at level l.

    The tuple holds only the columns that the match for A needs.
    """

    tuple: Mapping[str, str | None]
    attribute: str
    level: int


@dataclass(frozen=True, slots=True)
class Quote:
    """What a request costs this buyer now, in nanocredits."""

    price: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not answered at any price. An answer of the paper's ("infinite price"), not an error."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Answer:
    """What a purchase bought, and what it cost, in nanocredits."""

    value: str
    level: int
    price: int
