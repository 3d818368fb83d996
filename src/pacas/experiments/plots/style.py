"""How the figures look: sheets of paper with panels, colours that the colour-blind tell apart, and files of them.

Methods have a colour and a marker, ways of guarding a dash and a filling; so nothing is told by colour alone. The
palette is Okabe and Ito's. A sheet is 16 cm wide with text of 7 pt or more: it is read at its own size on half a page.
Files are the same, byte for byte, whenever they are drawn from the same results by the same matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, log10
from pathlib import Path
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any, Literal

from pacas.client.paper.allocation import ALLOCATIONS
from pacas.client.paper.repair import REPAIRS
from pacas.errors import InputError
from pacas.experiments.plots.labels import number_words, tick_words
from pacas.experiments.plots.means import Spread
from pacas.experiments.runs.setting import (
    GUARDED,
    METHODS,
    NO_PRIVACY,
    NO_PURCHASE,
    PRIVATE,
    PRIVATE_RHS,
    REFINE,
    REPLACE,
    SEALED,
    WEIGH,
    WEIGH_FURTHER,
    Setting,
)
from pacas.formats.replacing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

WIDTH = 16 / 2.54
"""Inches."""
INK, SOFT, LINE, PAPER = "#1d2126", "#59616b", "#d9dcdf", "#ffffff"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
GREY, RED = "#8a8f96", "#b2182b"
LINE_HEIGHT = 0.15
"""Inches, of a line of text."""
MOST_LETTERS = 85
"""In a line of the legend."""

COLOURS = {
    REPLACE: BLUE,
    REFINE: VERMILION,
    WEIGH: INK,
    WEIGH_FURTHER: RED,
    PRIVATE: GREEN,
    PRIVATE_RHS: PURPLE,
    NO_PURCHASE: ORANGE,
    NO_PRIVACY: SKY,
}
MARKERS = dict(zip(METHODS, "o^*vsDXP", strict=True))
DIRTY_TABLE = "the dirty table"
DASHES: Mapping[str, Any] = dict(zip(ALLOCATIONS, ["-", (0, (4, 1.5)), (0, (1, 1.2))], strict=True))
STACK = (BLUE, SKY, ORANGE, VERMILION, GREEN)
"""For parts of a whole, one upon the other."""
NEAR_TO_FAR = ("#08519c", "#4a98c9", "#b0d2e7", "#e9b27a")
"""For parts that have an order: from right to as wrong as can be."""

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LINE,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "hatch.linewidth": 0.8,
    "svg.fonttype": "path",  # looks the same wherever it is read
    "svg.hashsalt": "pacas",
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and save inside of it."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise InputError(
            "figures are drawn by matplotlib, which is missing; pip install 'pacas[experiments]'"
        ) from None
    with rc_context(_STYLE):
        yield


def sheet(rows: int, columns: int, *, row_height: float, sharey: bool = False) -> tuple[Sheet, list[list[Axes]]]:
    """Panels, each row of them so many inches high."""
    from matplotlib.figure import Figure as Sheet

    drawn = Sheet(figsize=(WIDTH, rows * row_height), layout="constrained")
    return drawn, drawn.subplots(rows, columns, squeeze=False, sharey=sharey).tolist()


def frame(drawn: Sheet, title: str, note: str, *, below: str = "", key: str = "", order: Sequence[str] = ()) -> None:
    """Make room above the panels for a title and a note, below them for the axis in words and a legend under a key."""
    named = {words: artist for panel in drawn.axes for artist, words in _labelled(panel)}
    named = {words: named[words] for words in dict.fromkeys([*order, *named]) if words in named}
    columns = 5 if sum(map(len, named)) < MOST_LETTERS else 4
    heading = wrap(title, 92)
    head = LINE_HEIGHT * (1.1 * len(heading) + bool(note)) + 0.08
    legend = LINE_HEIGHT * (ceil(len(named) / columns) + bool(key))
    foot = legend + (LINE_HEIGHT if below else 0) + 0.05
    panels = drawn.get_figheight()
    height = head + panels + foot
    drawn.set_figheight(height)
    engine: Any = drawn.get_layout_engine()
    engine.set(rect=(0, foot / height, 1, panels / height), w_pad=0.04, h_pad=0.03)
    left = 0.05 / WIDTH
    drawn.text(left, 1 - 0.04 / height, "\n".join(heading), va="top", size=8.5, weight="bold")
    drawn.text(left, (foot + panels + 0.04) / height, note, va="bottom", color=SOFT)
    drawn.text(0.5, (legend + 0.05) / height, below, ha="center", va="bottom")
    if named:
        placed = drawn.legend(
            named.values(), named, title=key or None, loc="lower center", ncols=columns, borderaxespad=0.2,
            columnspacing=1.4, handlelength=2.8, labelspacing=0.35, title_fontsize=7,
        )  # fmt: skip
        placed.set_in_layout(False)


def _labelled(panel: Axes) -> Iterator[tuple[Any, str]]:
    """What a panel's legend shows."""
    return zip(*panel.get_legend_handles_labels(), strict=True)


def dirty_table(panel: Axes, side: Literal["x", "y"] = "y") -> None:
    """A line at 1, where the error is that of the dirty table."""
    (panel.axvline if side == "x" else panel.axhline)(1, color=SOFT, linewidth=0.9, zorder=1, label=DIRTY_TABLE)


def level(panel: Axes, height: float, setting: Setting, words: str) -> None:
    """A method that what is varied does not touch."""
    colour = COLOURS[setting.method]
    panel.axhline(height, color=colour, linewidth=1.0, linestyle=(0, (6, 1.5, 1, 1.5)), label=words)


def near_values(of_each: Mapping[str, Sequence[float]], others: Sequence[float]) -> list[float]:
    """Every number that a panel must have room for; not those of a method shown for comparison that lies far above.

    >>> near_values({"": [1.0, 2.0], "near": [3.0], "far": [7.0, 9.0]}, [1.5])
    [1.5, 1.0, 2.0, 3.0]
    """
    shown = [*others, *of_each.get("", ())]
    for name, values in sorted(of_each.items(), key=lambda item: max(item[1], default=0.0)):
        if name and min(values, default=0.0) <= FAR * max(shown, default=float("inf")):
            shown += values
    return shown


FAR = 2.0


def absent(panel: Axes) -> None:
    """Say that there is nothing to show."""
    panel.text(0.5, 0.5, "no runs", color=SOFT, ha="center", va="center", transform=panel.transAxes)


def end_of_bar(panel: Axes, place: int, spread: Spread) -> None:
    """A whisker, and the mean in figures, where a lying bar ends."""
    left, right = panel.get_xlim()
    panel.plot([max(spread.least, left), max(spread.greatest, left)], [place, place], color=INK, linewidth=0.7)
    panel.annotate(
        number_words(spread.mean),
        (min(max(spread.greatest, left), right), place),
        (3, -0.3),
        textcoords="offset points",
        va="center",
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5},
    )


def save(drawn: Sheet, folder: Path, name: str) -> tuple[Path, Path]:
    """Write a sheet as SVG and as PNG."""
    vector, pixels = folder / f"{name}.svg", folder / f"{name}.png"
    for path in (vector, pixels):
        with replacing(path) as partial:
            write(drawn, partial, path.suffix[1:])
    return vector, pixels


def write(drawn: Sheet, to: Path | IO[bytes], kind: str) -> None:
    """Write a sheet as `svg` or `png`, without the date."""
    drawn.savefig(to, format=kind, **_FILES[kind])
    drawn.set_layout_engine("none")  # everything has its place now


_FILES: Mapping[str, Any] = {
    "svg": {"metadata": dict.fromkeys(("Creator", "Date", "Format", "Type"))},
    "png": {"dpi": 200, "metadata": {"Software": None}},
}


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a line or bar is told apart."""

    colour: str
    marker: str
    dash: Any
    is_hollow: bool

    @property
    def fill(self) -> str:
        return PAPER if self.is_hollow else self.colour


def line_style(setting: Setting, lines: Sequence[str]) -> LineStyle:
    """How a line is drawn: by its method, then by how it is guarded, quoted, or the budget allocated."""
    is_hollow = setting.buys and (setting.quotes != SEALED if "quotes" in lines else setting.guard == GUARDED)
    dash = "-" if not is_hollow else (0, (4, 1.5))
    marker = MARKERS[setting.method]
    if "allocation" in lines and setting.method in REPAIRS:
        dash = DASHES[setting.allocation]
        marker = dict(zip(ALLOCATIONS, "osD", strict=True))[setting.allocation]
    return LineStyle(COLOURS[setting.method], marker, dash, is_hollow)


WIDE = 30
"""Where the greatest is so many times the least, a linear axis would hide the least."""

MOST_TIMES = 2_000
"""From its one end to the other; what is less than that is next to nothing."""


def is_wide(values: Sequence[float]) -> bool:
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) > WIDE * min(positive)


def log_ticks(least: float, greatest: float, most: int) -> list[float]:
    """1, 2, 5, 10, … within a range, or the powers of ten alone if these would be too many.

    >>> log_ticks(0.4, 20, 6), log_ticks(0.01, 100, 6)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [0.01, 0.1, 1.0, 10.0, 100.0])
    """
    powers = range(floor(log10(least)), ceil(log10(greatest)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [round(step * 10.0**power, 12) for power, step in product(powers, steps)]
        ticks = [tick for tick in ticks if least <= tick <= greatest]
        if len(ticks) <= most:
            return ticks
    return ticks[:: ceil(len(ticks) / most)]


def set_scale(
    panel: Axes, values: Sequence[float], *, log: bool, side: Literal["x", "y"] = "y", room: float = 0.08, most: int = 6
) -> None:
    """From 0, or logarithmic, with at most so many ticks; with room beyond the greatest, as a share of the axis."""
    axis = panel.xaxis if side == "x" else panel.yaxis
    positive = [value for value in values if value > 0]
    if log and positive:
        greatest = max(positive)
        least = max(min(positive) / 1.4, greatest / MOST_TIMES)
        panel.set(**{f"{side}scale": "log", f"{side}lim": (least, greatest * (greatest / least) ** room)})
        axis.set_ticks(log_ticks(least, greatest, most))
        axis.set_ticks([], minor=True)
    else:
        panel.set(**{f"{side}lim": (0, (1 + room) * max(positive, default=1))})
    axis.set_major_formatter(lambda value, _: tick_words(value))
