"""The results of an evaluation: one line per run, kept as they come in, and at the end one tidy table.

`runs.jsonl` grows by a line per run, so that an evaluation that was stopped goes on where it was. `results.parquet` and
`results.csv` hold them with a column per parameter and per figure. `Runs` are these lines, asked for by figure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pacas.errors import FileError
from pacas.experiments.runs.figure import Collection, Figure, Scale
from pacas.experiments.runs.figures import FIGURES
from pacas.experiments.runs.setting import PAPER, Setting

LEVELS = 6
"""More than any hierarchy of the evaluation has below its root."""

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()
SCHEMA = pa.schema(
    [
        ("dataset", _TEXT),
        ("rows", _WHOLE),  # as asked for; null: all
        ("actual_rows", _WHOLE),
        ("seed", _WHOLE),
        ("method", _TEXT),
        ("guard", _TEXT),
        ("quotes", _TEXT),
        ("budget", _REAL),  # as a share of `full_cost`
        ("per_cell", _WHOLE),
        ("k", _WHOLE),
        ("level", _WHOLE),
        ("error_rate", _REAL),
        ("side", _TEXT),
        ("random_rate", _REAL),
        ("max_level", _WHOLE),
        ("allocation", _TEXT),
        ("quasi_identifiers", _WHOLE),
        ("sellers", _TEXT),
        ("error", _REAL),  # δ of the repaired relation against the truth
        ("dirty_error", _REAL),
        ("relative_error", _REAL),  # the one divided by the other
        ("wrong", _WHOLE),  # cells, in the dirty relation
        ("wrong_after", _WHOLE),
        ("unseen", _WHOLE),  # wrong cells whose tuples are in no violation of a dependency that names them
        ("unseen_after", _WHOLE),  # of these, still wrong
        ("unseen_share", _REAL),  # of the dirty relation's δ, what is in these cells
        ("seen_error", _REAL),  # δ of all other cells, divided by what it was
        ("changed", _WHOLE),
        ("correct", _WHOLE),
        ("general", _WHOLE),  # cells that got a general value
        ("precision", _REAL),
        ("recall", _REAL),
        ("f1", _REAL),
        *((f"level_{level}", _WHOLE) for level in range(LEVELS)),  # changed cells by the level of their value
        *((f"quarter_{number}", _WHOLE) for number in range(1, 5)),  # … by the quarter of their distance
        ("classes", _WHOLE),
        ("purchases", _WHOLE),
        ("unrepaired", _WHOLE),  # classes
        ("full_cost", _REAL),  # credits, for every class at level 0
        ("spent", _REAL),
        ("spent_share", _REAL),  # of `full_cost`
        *((f"declined_{level}", _REAL) for level in range(LEVELS)),  # share of classes refused as unsafe, at first
        ("cpu_seconds", _REAL),  # of the cleaning, in all threads
        ("cpu_provider", _REAL),  # to build the provider
        ("seconds", _REAL),  # of the cleaning, by the clock; the next four add up to it
        ("seconds_detect", _REAL),
        ("seconds_ask", _REAL),
        ("seconds_pay", _REAL),
        ("seconds_repair", _REAL),
        ("version", _TEXT),
        ("commit", _TEXT),
    ]
)

MEASURED = ("actual_rows", "error", "dirty_error", "cpu_seconds")
"""What every run has measured, whatever its method."""

Line = Mapping[str, Any]
"""A run: its parameters and what was measured, by the names of `SCHEMA`."""


class Results:
    """The runs of one evaluation, in a directory of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / "runs.jsonl"
        self._lines: dict[Setting, Line] = {}
        try:
            with self._path.open("ab+") as file:
                file.seek(0)
                written = file.read()
                whole = written[: written.rfind(b"\n") + 1]
                file.truncate(len(whole))  # a line that a crash cut short is run again
        except OSError as error:
            raise FileError(f"{self._path} cannot be written ({error.strerror}); give another --output") from None
        for number, line in enumerate(whole.splitlines(), start=1):
            self._read(number, line)

    def _read(self, number: int, line: bytes) -> None:
        try:
            run = json.loads(line)
            pa.table({name: [run.get(name)] for name in SCHEMA.names}, schema=SCHEMA)
            self._lines[Setting.of(run)] = run
            whole = all(run.get(name) is not None for name in MEASURED)
        except (ValueError, TypeError, AttributeError, KeyError, pa.ArrowException):
            whole = False
        if not whole:
            raise FileError(
                f"{self._path}, line {number}: not a run of this version; give another --output, or remove the file"
            )

    def __contains__(self, setting: Setting) -> bool:
        return setting in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, setting: Setting, measured: Line) -> None:
        """Keep a run, before the next one begins."""
        line = setting.as_dict() | dict(measured)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._lines[setting] = line

    def table(self, settings: Iterable[Setting]) -> pa.Table:
        """The runs of these settings, as far as they are there, in this order; an earlier version's at defaults."""
        lines = [setting.as_dict() | dict(self._lines[setting]) for setting in settings if setting in self._lines]
        return pa.table({name: [line.get(name) for line in lines] for name in SCHEMA.names}, schema=SCHEMA)


def write_table(table: pa.Table, folder: Path) -> tuple[Path, Path]:
    """`results.parquet` and `results.csv`."""
    parquet, csv = folder / "results.parquet", folder / "results.csv"
    pyarrow.parquet.write_table(table, parquet)
    pyarrow.csv.write_csv(table, csv)
    return parquet, csv


def read_table(path: Path) -> pa.Table:
    """The results that an evaluation wrote, as Parquet."""
    if not path.exists():
        raise FileError(f"{path} is not there; `pacas experiment run` writes it")
    return pyarrow.parquet.read_table(path)


Curve = Mapping[Any, float]
"""From the values of a parameter, in their order, to what was measured there."""


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of an evaluation, and what it was run on."""

    lines: Mapping[Setting, Line]
    collection: Collection
    scale: Scale
    quotes: str = PAPER
    """At which quotes its figures are."""

    @classmethod
    def of(cls, table: pa.Table, collection: Collection, scale: Scale, quotes: str = PAPER) -> Runs:
        return cls({Setting.of(line): line for line in table.to_pylist()}, collection, scale, quotes)

    def figure(self, name: str) -> Figure:
        return FIGURES[name].at_quotes(self.quotes)

    def of_figure(self, figure: Figure) -> Sequence[Line]:
        """The runs that it is drawn from, as far as they are there."""
        settings = dict.fromkeys(figure.settings(self.collection, self.scale))
        return [self.lines[setting] for setting in settings if setting in self.lines]

    def settings(self, figure: str) -> tuple[Setting, ...]:
        """The runs that claims about a figure are about, each once; what it shows besides is not asked for."""
        return _settings(figure, self.quotes, self.collection, self.scale)

    def is_complete(self, figure: str) -> bool:
        """Are all runs there that claims are about?"""
        return all(setting in self.lines for setting in self.settings(figure))

    def curve(
        self,
        figure: str,
        shows: str,
        *,
        by: str | None = None,
        over_seeds: Callable[[Sequence[float]], float] = fmean,
        **where: Any,
    ) -> Curve:
        """A column by the figure's x or another parameter, of the runs with some values; over the seeds, its mean."""
        asked = self.figure(figure)
        over = by or asked.x
        found: dict[Any, list[float]] = {}
        for line in self.of_figure(asked):
            if all(line[name] == value for name, value in where.items()) and line[shows] is not None:
                found.setdefault(line[over], []).append(line[shows])
        return {x: over_seeds(found[x]) for x in _in_order(found)}


@cache
def _settings(figure: str, quotes: str, collection: Collection, scale: Scale) -> tuple[Setting, ...]:
    asked = replace(FIGURES[figure].at_quotes(quotes), beside=())
    return tuple(dict.fromkeys(asked.settings(collection, scale)))


def _in_order(values: Mapping[Any, Any]) -> list[Any]:
    """Numbers in ascending order, names as they come."""
    return sorted(values) if all(isinstance(value, int | float) for value in values) else list(values)
