"""What the parties say to each other: Request, Quote, Refusal, Answer. Plain values; no JSON here.

Paper: §4.2, Figure 3. AskPrice is a Request answered by a Quote or a Refusal; Pay turns a Request into an Answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from pacas.core.money import credits_words, rounded_text
from pacas.core.notebook import html_lines, html_table
from pacas.protocol.receipt import SignedReceipt

if TYPE_CHECKING:  # who reads a receipt or a request needs no arrays
    import numpy as np
    from numpy.typing import NDArray

    from pacas.core.hierarchy import Hierarchy
    from pacas.core.rates.schedule import Schedule

LARGEST = 2**63 - 1
"""The largest amount, level or other number in a message: every store keeps it exactly."""


MOST_QUOTED = 16
"""Quotes that one of several purchases may be planned by."""
MAX_MATCHES = "max_matches"
"""Why rows that are not answered from are ambiguous, where it is not for what they say: they are too many (D4)."""
ABSENT = "absent"
"""What is answered at any level about a person who is in a provider's registry and not in its relation."""


class Reason(Enum):
    """Why a request is refused, in the order in which the provider checks (D4)."""

    NO_MATCH = "no_match"
    AMBIGUOUS = "ambiguous"
    UNSAFE = "unsafe"
    CEILING = "ceiling"
    CREDIT = "credit"
    REFUSED = "refused"
    """All that a provider says who keeps its reasons to itself."""


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

    def _repr_html_(self) -> str:
        return html_lines("Quote", [("price", credits_words(self.price))])


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not answered at any price. An answer of the paper's ("infinite price"), not an error."""

    reason: Reason
    because: str | None = field(default=None, compare=False)
    """`MAX_MATCHES`, where somebody has looked and found that the rows are ambiguous for their number alone."""

    def _repr_html_(self) -> str:
        because = [] if self.because is None else [("because", self.because)]
        return html_lines("Refusal", [("reason", self.reason.value), *because])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a purchase bought, and what it cost, in nanocredits."""

    value: str
    level: int
    price: int
    receipt: SignedReceipt | None = field(default=None, compare=False, repr=False)
    """What a provider that signs its sales vouches for; it is no part of what was bought."""


@dataclass(frozen=True, slots=True)
class QuotedLadder:
    """What a tuple was quoted for an attribute, from ground to root, as `Ladders` has it."""

    attribute: str
    tuple: Mapping[str, str | None]
    prices: Sequence[int]


@dataclass(frozen=True, slots=True)
class Payment:
    """One of several purchases that are paid in order, as long as all comes as it was planned.

    It was planned that it costs its ceiling, and by quotes: if one of those is another by then, it is not made.
    """

    request: Request
    ceiling: int
    key: str
    quoted: tuple[QuotedLadder, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedLadder:
    """What so many keys cost who has bought nothing, from ground to root; below level `floor` they are not sold."""

    prices: tuple[int, ...]
    floor: int
    keys: int


@dataclass(frozen=True, slots=True)
class ListedPrices:
    """What keys cost: how many there are, and the ladders that most of them have.

    A buyer's prices for an attribute follow from what it has bought of those that are `linked` with it.
    """

    keys: int
    linked: tuple[str, ...]
    ladders: tuple[ListedLadder, ...]
    has_list: bool = True
    """Whether a list of all keys can be had, from which a client quotes by itself."""


class PriceBounds(NamedTuple):
    """The lowest and the highest price that one row can have at a level, whatever its value."""

    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Offer:
    """An attribute that is for sale: the columns that a client's tuple must have, and the attribute's levels."""

    attribute: str
    columns: tuple[str, ...]
    hierarchy: Hierarchy
    may_be_absent: bool = False
    """Whether quotes are about a registry, so that the answer may be `ABSENT`, and the root's price is not 0."""
    prices: ListedPrices | None = field(default=None, repr=False)
    """What it costs who has bought nothing, where that is public."""
    is_sealed: bool = False
    """Whether quotes tell nothing of values: where two differ, the rows may still hold the same."""
    floor: int = 0
    """The finest level that anybody may buy: below it every request is refused as unsafe."""
    bounds: tuple[PriceBounds, ...] | None = field(default=None, repr=False)
    """From ground to root, what one row costs who has bought nothing, where prices follow values and these do not."""

    @property
    def tells_values(self) -> bool:
        """Whether it is told which values there are; where it is not, each is a leaf under the root (D1)."""
        return bool(self.hierarchy.ground_labels)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ladders:
    """The quotes of many tuples for one attribute, each at all levels from ground to root.

    `prices[i, l]` is tuple i's price at level l in nanocredits, or a refusal: −1 − its reason's place in `Reason`.
    """

    prices: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Ladders({len(self):,} tuples, levels 0 to {self.prices.shape[1] - 1})"

    def _repr_html_(self) -> str:
        heads = ("tuple", *(f"level {level}" for level in range(self.prices.shape[1])))
        rows = ((number, *map(_in_words, self[number])) for number in range(len(self)))
        return html_table(repr(self), heads, rows, len(self))

    def __len__(self) -> int:
        return len(self.prices)

    def __getitem__(self, i: int) -> list[Quote | Refusal]:
        """One tuple's quotes, from level 0 up."""
        return [Quote(price) if price >= 0 else Refusal(REASONS[-1 - price]) for price in self.prices[i].tolist()]


def _in_words(quoted: Quote | Refusal) -> str:
    return quoted.reason.value if isinstance(quoted, Refusal) else rounded_text(quoted.price)


REASONS = tuple(Reason)


def refused(reason: Reason) -> int:
    """A refusal as `Ladders` holds it."""
    return -1 - REASONS.index(reason)


@dataclass(frozen=True, slots=True)
class OfferedTerms:
    """Terms that a provider holds out to one buyer, or that the buyer has asked for. Money in nanocredits."""

    id: str
    state: str
    stands: bool
    """Whether they can be accepted."""
    schedule: Schedule
    prepaid: int
    days: int
    stands_until: int
    """In seconds since 1970."""
    buyer: str | None = None
    """Whose they are, where its provider looks."""
