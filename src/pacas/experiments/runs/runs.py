"""The runs of an evaluation, asked for by figure: what a figure's curves go through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pyarrow as pa

from pacas.experiments.runs.figures import FIGURES, Collection, Figure, Scale
from pacas.experiments.runs.results import Line
from pacas.experiments.runs.setting import Setting

Curve = Mapping[Any, float]
"""From the values of a parameter, in their order, to what was measured there."""


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of an evaluation, and what it was run on."""

    lines: Mapping[Setting, Line]
    collection: Collection
    scale: Scale

    @classmethod
    def of(cls, table: pa.Table, collection: Collection, scale: Scale) -> Runs:
        return cls({Setting.of(line): line for line in table.to_pylist()}, collection, scale)

    def of_figure(self, figure: Figure) -> Sequence[Line]:
        """The runs that it is drawn from, as far as they are there."""
        settings = dict.fromkeys(figure.settings(self.collection, self.scale))
        return [self.lines[setting] for setting in settings if setting in self.lines]

    def is_complete(self, figure: str) -> bool:
        return all(s in self.lines for s in FIGURES[figure].settings(self.collection, self.scale))

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
        over = by or FIGURES[figure].x
        found: dict[Any, list[float]] = {}
        for line in self.of_figure(FIGURES[figure]):
            if all(line[name] == value for name, value in where.items()) and line[shows] is not None:
                found.setdefault(line[over], []).append(line[shows])
        return {x: over_seeds(found[x]) for x in _in_order(found)}


def _in_order(values: Mapping[Any, Any]) -> list[Any]:
    """Numbers in ascending order, names as they come."""
    return sorted(values) if all(isinstance(value, int | float) for value in values) else list(values)
