"""One thing to mend: which rule, how bad, how many people it concerns, and the line that mends it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The worst first."""
Rule = Literal[
    "told-by",
    "sells-nothing",
    "sells-little",
    "refuses-nothing",
    "small-families",
    "only-child",
    "uneven",
    "rare-groups",
    "finer-than-x",
    "unprotected",
    "free-quotes-tell",
    "published-dependency",
    "not-looked-at",
]


@dataclass(frozen=True, slots=True)
class ProviderFinding:
    """What was found, in counts: it never holds a value of the relation."""

    rule: Rule
    severity: Severity
    attribute: str
    """What it is about: an attribute, or several with commas between."""
    people: int
    """How many rows it concerns."""
    says: str
    remedy: str
    """Lines of TOML, or a command."""
    estimated: bool = False
    """Whether `people` follows from a sample of the rows."""
    about: Literal["people", "things"] = "people"
    """What rows are about, by their owner's word: of things, `people` are called rows."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def who(about: str) -> tuple[str, str]:
    """What one row is called, and several, where they are about people or things."""
    return ("row", "rows") if about == "things" else ("person", "people")


def worst_first(findings: Iterable[ProviderFinding]) -> list[ProviderFinding]:
    """Errors before warnings before notes; of each, what concerns most people first."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), -one.people, one.rule, one.attribute))
