"""What mends a finding: lines of TOML that can be pasted into their section, and commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pacas.core.dependency import FunctionalDependency
from pacas.core.toml import toml_text

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
