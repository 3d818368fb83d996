"""What is suggested: dependencies, strong and weak, each with what speaks for it and against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pacas.core.dependency import FunctionalDependency
from pacas.core.words import counted


@dataclass(frozen=True, slots=True, repr=False)
class ExceptionExample:
    """A value that its group does not share: of how many rows, of what kind, and what most of the group has."""

    left: tuple[str, ...]
    value: str
    majority: str
    rows: int
    kind: str
    """typo, scattered or block."""


@dataclass(frozen=True, slots=True, repr=False)
class SuggestedDependency:
    """A dependency that a table almost satisfies, and its evidence. Rows count that are not alone in their group."""

    fd: FunctionalDependency
    score: float
    """μ+ of the rows that are no typos: how much likelier two rows of one group agree than any two, from 0 to 1."""
    rows: int
    groups: int
    """Groups of several rows."""
    typo: int
    """Rows whose value is seen twice at most, or is the usual one misspelled, in groups that have a majority."""
    scattered: int
    """Rows whose value others have, too, as errors do."""
    blocks: int
    """Rows of another value that stands in one group too often for chance: a sign against the dependency."""
    agreeing_groups: int = 0
    """Groups without an exception."""
    placeholder: str | None = None
    """A value of the left side that is none, such as 0 or unknown, and whose rows do not count."""
    because: str = ""
    """What a strong one rests on besides its score, or what makes one weak; in words."""
    looked_at: int = 0
    """Rows by which this was counted: all, or a sample where it would not be declared anyway."""
    examples: tuple[ExceptionExample, ...] = ()

    @property
    def exceptions(self) -> int:
        return self.typo + self.scattered + self.blocks

    @property
    def agreement(self) -> float:
        """The share of rows that have their group's most frequent value."""
        return 1 - self.exceptions / max(self.rows, 1)

    @property
    def is_exact(self) -> bool:
        return not self.exceptions

    def as_json(self) -> dict[str, Any]:
        return {
            "fd": str(self.fd),
            "score": round(self.score, 4),
            "rows": self.rows,
            "groups": self.groups,
            "exceptions": {"typo": self.typo, "scattered": self.scattered, "blocks": self.blocks},
            "agreement": round(self.agreement, 4),
            "agreeing_groups": self.agreeing_groups,
            "looked_at": self.looked_at,
            "placeholder": self.placeholder,
            "because": self.because or None,
            "examples": [
                {"left": list(e.left), "value": e.value, "majority": e.majority, "rows": e.rows, "kind": e.kind}
                for e in self.examples
            ],
        }

    def __repr__(self) -> str:  # no values of the table
        return f"SuggestedDependency({self.fd}: {self.score:.2f}, {counted(self.exceptions, 'exception')})"


@dataclass(frozen=True, slots=True, repr=False)
class SuggestedDependencies:
    """The dependencies that a table suggests, best first."""

    strong: tuple[SuggestedDependency, ...]
    """To be declared: at most two left sides a right side."""
    redundant: tuple[SuggestedDependency, ...]
    """As strong, but their right side has two left sides already."""
    weak: tuple[SuggestedDependency, ...]
    """To be looked at: some are true, and some would spoil a table."""
    keys: tuple[str, ...]
    """Columns that tell nearly every row apart: they determine all others, and say nothing by it."""
    rows: int
    """How many rows were looked at."""
    of: int
    """How many rows the table has."""

    def as_json(self) -> dict[str, Any]:
        strong = [one.as_json() | {"active": True} for one in self.strong]
        redundant = [one.as_json() | {"active": False} for one in self.redundant]
        return {
            "rows": self.rows,
            "of": self.of,
            "strong": [*strong, *redundant],
            "weak": [one.as_json() for one in self.weak],
            "keys": list(self.keys),
        }

    @property
    def exact(self) -> tuple[SuggestedDependency, ...]:
        """Those strong ones that hold in every row, redundant ones included."""
        return tuple(one for one in (*self.strong, *self.redundant) if one.is_exact)

    def __repr__(self) -> str:
        return (
            f"SuggestedDependencies({len(self.strong)} strong, {len(self.redundant)} redundant, {len(self.weak)} weak)"
        )
