"""Names for files that are about one attribute each: such as any system takes, and no two alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

LONGEST = 60


def file_names(attributes: Iterable[str], folder: Path, suffix: str = ".csv") -> dict[str, Path]:
    """A file for each attribute, in a folder; names that differ in case alone would be one on some systems.

    >>> [path.name for path in file_names(["a/b", "A b", "*"], Path()).values()]
    ['a_b.csv', 'A_b_2.csv', 'column.csv']
    """
    names: dict[str, Path] = {}
    taken: set[str] = set()
    for attribute in attributes:
        plain = re.sub(r"[^\w-]+", "_", attribute).strip("_")[:LONGEST] or "column"
        number, name = 1, plain
        while name.casefold() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.casefold())
        names[attribute] = folder / f"{name}{suffix}"
    return names
