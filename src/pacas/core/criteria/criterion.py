"""The seam of all privacy criteria: what the Y-values of a group, at levels L, must be like.

A group is what a histogram says of it: an X-group of a relation, with how often each value occurs in it; or the block
of tuples that answers leave possible for a row, with the prior of each value.

*The law of mixtures*, which every criterion keeps: what holds of two groups holds of both together. Each is f ≥ bound
for some f of the group's shares with f(mixture) ≥ the least f of its parts; it suffices that f is concave. Answers at
coarser levels leave unions of blocks, so what is safe at some levels is safe at all coarser ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacas.core.histogram import GroupHistogram
from pacas.errors import InputError

Number = int | float | str | Decimal | Fraction
"""A parameter, as it is written."""
Bools = NDArray[np.bool_]


class Criterion(ABC):
    """One criterion with its parameters, which are the fields of a frozen dataclass."""

    __slots__ = ()
    name: ClassVar[str]
    strictest_of: ClassVar[str]
    """The parameter that `strictest` is about."""
    strictest_is: ClassVar[str]
    """What `strictest` finds, in words."""
    spans_components: ClassVar[bool] = False
    """Whether what is left of independent attributes can be multiplied (`left`)."""

    @abstractmethod
    def holds(self, histogram: GroupHistogram) -> Bools:
        """Per group: is it protected?"""

    @abstractmethod
    def strictest(self, histogram: GroupHistogram) -> float | None:
        """How strict `strictest_of` can be with all groups protected; None without a group."""

    @property
    @abstractmethod
    def fewest_values(self) -> int:
        """How many values a group that is protected has at least."""

    @property
    def enough(self) -> int:
        """How much must be left (`left`) of what is protected."""
        return 1

    def left(self, histogram: GroupHistogram) -> int:
        """What is left in the worst group, as a whole number: by default 1 if all are protected, else 0."""
        return int(self.holds(histogram).all())

    @property
    def parameters(self) -> dict[str, Fraction]:
        return {field.name: exact(getattr(self, field.name), field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def written(self) -> dict[str, str | int | float]:
        """Its name and its parameters, with numbers as JSON has them."""
        numbers = {name: int(n) if n.denominator == 1 else float(n) for name, n in self.parameters.items()}
        return {"name": self.name, **numbers}

    def linked_to(self, y: str) -> str:
        """What it asks of the groups: that they are …"""
        return f"linked to {y} with {self}"

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {getattr(self, name)}" for name in self.parameters)
        return f"{self.name} {given}"


def exact(value: Number, name: str) -> Fraction:
    """A parameter as it is written: 0.1 is a tenth."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name} must be a number, such as 2.5, not {str(value)!r}") from None


def whole(value: Number, name: str, least: int = 1) -> int:
    """A parameter that counts something."""
    number = exact(value, name)
    if number.denominator != 1:
        raise InputError(f"{name} must be a whole number, not {value}")
    if number < least:
        raise InputError(f"{name} must be at least {least}, not {value}")
    return int(number)


def fits_64_bits(largest: int) -> bool:
    """Whether whole numbers up to this one can be reckoned with in arrays; larger ones are Python's own."""
    return largest < 2**63
