"""One thing to mend: which rule, how bad, how many people it concerns, and what mends it.

That is a line of TOML, or several, that can be pasted into their section; or a command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pacas.core.dependency import FunctionalDependency
from pacas.core.toml import toml_text

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


SEALED = '[pricing]\nquotes = "sealed"  # and leave out support, points, seed and history'
PEOPLE = 'about = "people"  # in [relation], if that is what they are about'
EVERYBODY = 'scope = "row"  # everybody is then sold at safe levels only'


def balanced(attribute: str, level: int, k: int, files: Mapping[str, str]) -> str:
    """The command that gives every family of a hierarchy enough values."""
    file = files.get(attribute, f"{attribute}.csv")
    return f"pacas hierarchy balance {file} --level {level} --k {k} --output {file}"


def declared(left: Iterable[str], right: str, dictionary: bool = False) -> str:
    """The section that declares a dependency.

    >>> print(declared(["NUM"], "EDU", dictionary=True))
    [[dependency]]
    fd = "NUM -> EDU"
    dictionary = "NUM_EDU.csv"
    """
    fd = FunctionalDependency(tuple(left), right)
    lines = ["[[dependency]]", f"fd = {toml_text(str(fd))}"]
    if dictionary:
        lines.append(f"dictionary = {toml_text('_'.join(fd.attributes) + '.csv')}")
    return "\n".join(lines)
