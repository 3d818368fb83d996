"""What is sold: read when it is paid for, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pacas.core.words import counted
from pacas.errors import InputError
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_index import PublicIndex


class PrivateCells(Protocol):
    """The private columns, wherever they are."""

    may_be_absent: bool
    """Whether a row of the index, which is then a registry's, may not be in the relation."""

    def answer(self, attribute: str, level: int, index: PublicIndex, row: int) -> str:
        """The value of a row of the index, at a level."""
        ...


def check_tuples(linked: LinkedAttributes, occurring: Iterable[tuple[tuple[int, ...], int]]) -> None:
    """Linked attributes hold tuples that are possible: from each (case, value, value, …) that occurs, and how often."""
    listed = {
        (number, *(int(path[0, i]) for path in component.paths))
        for number, component in enumerate(linked.cases)
        for i in range(len(component))
    }
    if strange := sum(n for values, n in occurring if values not in listed):
        named = ", ".join(linked.attributes)
        rows = counted(strange, "row has", "rows have")
        raise InputError(f"{rows} values of {named} that no dictionary lists together; complete it")


def check_listed(strange: int, names: Iterable[str]) -> None:
    """All rows are in the registry, by their values in some columns."""
    if strange:
        missing = counted(strange, "row is", "rows are")
        raise InputError(f"{missing} not in the registry, by {', '.join(names)}; complete it")


def check_determined(mixed: int, left: Iterable[str], attribute: str) -> None:
    """All rows that agree on the left side have one value: there is no mixed group of them."""
    if mixed:
        fd, sides = f"{', '.join(left)} -> {attribute}", counted(mixed, "left side")
        raise InputError(
            f"{fd} is declared and does not hold for {sides}; take it out, or correct what pacas check --fd "
            f'"{fd}" finds'
        )
