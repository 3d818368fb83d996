"""The cells that somebody should look at, as a table: the most doubtful first."""

from __future__ import annotations

import csv
from pathlib import Path

from pacas.client.outcome.weighing import Weighing
from pacas.formats.replacing import replacing

HEADER = ("row", "attribute", "value", "guess", "sure", "written")


def write_doubtful(path: Path, weighing: Weighing) -> None:
    """A line a cell; `sure` is how likely the guess is right, and `written` says whether it stands there now."""
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(HEADER)
        for cell in weighing.doubtful:
            written = "yes" if cell.written else "no"
            lines.writerow((cell.row, cell.attribute, cell.value, cell.guess, f"{cell.sure:.4f}", written))
