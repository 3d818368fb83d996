"""Results as a small table in a CSV file, a column for each of their fields."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


def write_lines(path: Path, lines: Sequence[NamedTuple]) -> Path:
    """Write results of one kind; where."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(lines[0]._fields if lines else ())
        writer.writerows(lines)
    return path


def read_lines(path: Path) -> list[dict[str, str]]:
    """What was written."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
