"""A schedule of rates: who buys more pays less for what comes on top. Nobody gains by having several accounts.

`W` are the *list credits* of an account: what its purchases cost together by the list, where each has its price from
what the account knew then. Above each threshold of W another rate applies; rates do not rise, so f(W), what W list
credits cost, is concave. A purchase of list price p costs f(W + p) − f(W): what is paid in all is f of all that was
bought, in whatever order.

Money is whole nanocredits. What has been paid in all is f(W) rounded *up*: as f(a + b) ≤ f(a) + f(b), and a whole
number that is no less than f is no less than f rounded up, two accounts never pay less than one would, not by a
nanocredit. A purchase is charged the difference. That may be a nanocredit more or less as W grows; so a quote is what
the purchase costs without rounding what came before, rounded up. It never rises with W, and no charge is above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from pacas.core.money import credits_text, nanocredits
from pacas.errors import InputError

WHOLE = 10_000
"""A rate of 100 per cent: rates are kept in hundredths of a per cent."""
MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Step:
    """Above so many list credits, in nanocredits, a rate in hundredths of a per cent."""

    above: int
    rate: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """Rates by thresholds: the first is 0, they rise, and rates do not.

    >>> schedule = Schedule.of([[0, 100], [5, 80], [20, 60]])
    >>> credits_text(schedule.paid(30 * 10**9)), schedule.quote(4 * 10**9, 2 * 10**9) == 1_800_000_000
    ('23', True)
    """

    steps: tuple[Step, ...] = (Step(0, WHOLE),)

    def __post_init__(self) -> None:
        if not 1 <= len(self.steps) <= MOST_STEPS or self.steps[0].above != 0:
            raise InputError("a schedule begins at 0 list credits, as in [[0, 100], [5, 80]]")
        if not all(0 < step.rate <= WHOLE for step in self.steps):
            raise InputError("a rate is above 0 and at most 100 per cent")
        for step, following in pairwise(self.steps):
            if following.above <= step.above:
                raise InputError("a schedule's list credits must rise from step to step")
            if following.rate > step.rate:
                raise InputError(
                    f"rates may not rise: above {credits_text(following.above)} list credits it is "
                    f"{_per_cent(following.rate)} after {_per_cent(step.rate)}, so two accounts would pay less than one"
                )

    @classmethod
    def of(cls, pairs: Iterable[Sequence[Any]]) -> Schedule:
        """A schedule from pairs of list credits and per cent, as a file has them."""
        steps = []
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise InputError("a step of a schedule is list credits and per cent, as in [5, 80]")
            steps.append(Step(nanocredits(pair[0], "a threshold"), _rate(pair[1])))
        return cls(tuple(steps))

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """A schedule as the command line has it.

        >>> str(Schedule.parse("0:80, 20:62.5"))
        '0:80,20:62.5'
        """
        steps = [[part.strip() for part in step.split(":")] for step in text.split(",")]
        if any(len(step) != 2 for step in steps):
            raise InputError("a schedule is list credits and per cent, step by step, as in 0:80,20:60")
        return cls.of(steps)

    def __str__(self) -> str:
        return ",".join(f"{credits_text(step.above)}:{_number(step.rate)}" for step in self.steps)

    @property
    def is_flat(self) -> bool:
        """Is every price the list's?"""
        return self.steps[-1].rate == WHOLE

    def pairs(self) -> list[tuple[int, int]]:
        """Thresholds in nanocredits, and rates in hundredths of a per cent."""
        return [(step.above, step.rate) for step in self.steps]

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[int, int]]) -> Schedule:
        """The schedule that has these pairs."""
        return cls(tuple(Step(above, rate) for above, rate in pairs))

    def words(self) -> str:
        """In words, for people.

        >>> Schedule.of([[0, 100], [5, 80]]).words()
        '100 % of the list, above 5 list credits 80 %'
        """
        first, *others = self.steps
        above = (f"above {credits_text(s.above)} list credits {_per_cent(s.rate)}" for s in others)
        return ", ".join([f"{_per_cent(first.rate)} of the list", *above])

    def paid(self, listed: int) -> int:
        """f(W), rounded up: what so many list credits have cost in all."""
        return self.quote(0, listed)

    def charge(self, listed: int, price: int) -> int:
        """What a purchase of this list price costs an account with so many list credits."""
        return self.paid(listed + price) - self.paid(listed)

    def quote(self, listed: int, price: int) -> int:
        """The most that it costs, now and after whatever the account buys before."""
        return price if self.is_flat else -(-self.worth(listed, listed + price) // WHOLE)

    def worth(self, start: int, end: int) -> int:
        """f(end) − f(start) in parts of a nanocredit, exactly."""
        return self._worth(end) - self._worth(start)

    def list_price(self, listed: int, quoted: int) -> int:
        """The most that the list can say where so much is quoted.

        >>> schedule = Schedule.of([[0, 100], [5, 80]])
        >>> schedule.list_price(4 * 10**9, schedule.quote(4 * 10**9, 3 * 10**9)) == 3 * 10**9
        True
        """
        left, found = quoted * WHOLE, 0
        for step, following in zip(self.steps, [*self.steps[1:], None], strict=True):
            most = left // step.rate
            room = most if following is None else min(most, max(0, following.above - max(step.above, listed)))
            left, found = left - room * step.rate, found + room
        return found

    def _worth(self, listed: int) -> int:
        """f(W) in parts of a nanocredit, exactly."""
        ends = [*(step.above for step in self.steps[1:]), listed]
        return sum(
            step.rate * max(0, min(end, listed) - step.above) for step, end in zip(self.steps, ends, strict=True)
        )


LIST = Schedule()
"""Everybody pays what the list says."""


def _rate(per_cent: object) -> int:
    try:
        rate = Decimal(str(per_cent)) * 100
        if rate == int(rate):
            return int(rate)
    except (ArithmeticError, ValueError):
        pass
    raise InputError(f"a rate is a number of per cent with at most two decimals, not {str(per_cent)!r}")


def _number(rate: int) -> str:
    return f"{rate / 100:g}"


def _per_cent(rate: int) -> str:
    return f"{_number(rate)} %"
