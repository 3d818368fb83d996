"""The figures of the evaluation, drawn from its results: small panels that share a title, a note and a legend.

Paper: §7. Each point is a mean over the seeds; a band or whisker reaches from the least to the greatest of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pacas.core.words import counted
from pacas.experiments.plots.bars import bars
from pacas.experiments.plots.lines import lines
from pacas.experiments.plots.maps import maps
from pacas.experiments.plots.means import Means, means
from pacas.experiments.plots.shares import shares
from pacas.experiments.plots.style import house_style, save
from pacas.experiments.runs.figure import Drawn, Figure
from pacas.experiments.runs.results import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

_KINDS = {Drawn.LINES: lines, Drawn.SHARES: shares, Drawn.BARS: bars, Drawn.MAPS: maps}


def check_can_draw() -> None:
    """Raise if matplotlib is missing: to be asked before hours of runs, not after."""
    with house_style():
        pass


def draw(figure: Figure, runs: Runs, folder: Path) -> tuple[Path, ...]:
    """Write a figure as SVG and PNG, from what there is of its runs; its note says how many are missing."""
    with house_style():
        return save(drawn(means(figure, runs)), folder, figure.name)


def drawn(found: Means) -> Sheet:
    """The sheet itself, inside `house_style`."""
    return _KINDS[found.figure.drawn](found, note(found))


def note(found: Means) -> str:
    """How to read it, and what is missing."""
    seeds = {len(point.runs) for point in found.points}
    said = []
    if seeds == {1}:
        said.append("Single runs.")
    elif seeds:
        most = f"{'' if len(seeds) == 1 else 'up to '}{max(seeds)}"
        spread = "" if found.figure.drawn is Drawn.MAPS else ", with the range from least to greatest"
        said.append(f"Means of {most} runs{spread}.")
    if found.missing:
        said.append(f"{found.missing:,} of {counted(found.missing + found.runs, 'run')} missing.")
    return " ".join(said)
