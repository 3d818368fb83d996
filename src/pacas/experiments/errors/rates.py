"""How many errors go where: rates, which are shares of the tuples, spread over dependencies and their sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pacas.core.dependency import FunctionalDependency
from pacas.errors import InputError, did_you_mean
from pacas.experiments.errors.constraint_errors import Side

Rate = float | Mapping[str, float]
"""One for all dependencies together, or one each: for `X -> A`, or for one side of it, `X -> A:lhs`."""

BOTH = "both"
SIDES: Mapping[str, tuple[Side, ...]] = {"rhs": (Side.RHS,), "lhs": (Side.LHS,), BOTH: (Side.RHS, Side.LHS)}


class Quota(NamedTuple):
    """How many errors one side of a dependency is to get."""

    fd: FunctionalDependency
    side: Side
    asked: int

    def __str__(self) -> str:
        return f"{self.fd}:{self.side}"


def check_rate(rate: object, what: str, of: str = "tuples") -> float:
    """A rate that is one."""
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 <= rate <= 1:
        raise InputError(f"{what} is a share of the {of} from 0 to 1, such as 0.1, and not {rate!r}")
    return float(rate)


def check_rates(rate: Rate, fds: Sequence[FunctionalDependency], side: str) -> float:
    """The rates' sum, if all are rates, of dependencies that are there."""
    if not isinstance(rate, Mapping):
        return check_rate(rate, "the rate")
    for name, share in rate.items():
        check_rate(share, f"the rate of {name!r}")
        _targets(name, fds, side)
    return sum(rate.values())


def quotas(rate: Rate, fds: Sequence[FunctionalDependency], side: str, rows: int) -> list[Quota]:
    """How many errors each dependency and side gets: a rate's tuples are shared out evenly among those it is for."""
    if not isinstance(rate, Mapping):
        return _spread(rate, [(fd, s) for fd in fds for s in SIDES[side]], rows)
    found = [quota for name, share in rate.items() for quota in _spread(share, _targets(name, fds, side), rows)]
    if len({quota[:2] for quota in found}) < len(found):
        raise InputError("the rates name a side of a dependency twice; give each one rate")
    return found


def tuples(rate: float, rows: int, what: str = "the rate") -> int:
    """How many tuples a rate comes to; one that comes to no tuple at all is a mistake."""
    number = math.floor(rate * rows + 0.5)
    if rate > 0 and not number:
        raise InputError(f"{what}, {rate:g} of {rows:,} rows, comes to no tuple at all; give a higher one")
    return number


def _spread(rate: float, among: Sequence[tuple[FunctionalDependency, Side]], rows: int) -> list[Quota]:
    if not among:
        return []
    each, more = divmod(tuples(rate, rows), len(among))
    return [Quota(fd, side, each + (i < more)) for i, (fd, side) in enumerate(among)]


def _targets(name: str, fds: Sequence[FunctionalDependency], side: str) -> list[tuple[FunctionalDependency, Side]]:
    """The dependencies and sides that a rate's name means."""
    text, colon, last = name.rpartition(":")
    named = (text, SIDES[last]) if colon and last in SIDES else (name, SIDES[side])
    wanted = FunctionalDependency.parse(named[0])
    for fd in wanted:
        if fd not in fds:
            raise InputError(
                f"a rate for {str(fd)!r}, which is not among the dependencies; {did_you_mean(str(fd), map(str, fds))}"
            )
    return [(fd, s) for fd in wanted for s in named[1]]
