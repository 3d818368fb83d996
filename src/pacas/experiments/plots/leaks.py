"""A picture of what a provider's free quotes and dependencies tell: who is guessed right without them, and who with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from pacas.core.words import counted
from pacas.experiments.plots.picture import inside_a_page, write_picture
from pacas.experiments.plots.style import GREEN, GREY, INK, ORANGE, RED, SOFT, frame, sheet
from pacas.pages.environment import page_environment, standalone_page
from pacas.pages.pieces import Card
from pacas.provider.leak.guessing import GuessedMore
from pacas.provider.leak.meter import AttributeLeak, DependencyLeak

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

TITLE = "What this provider's people lose"
PUBLIC, BY_QUOTES, BY_LEFT_SIDE = "by public columns", "more, by free quotes", "more, by a dependency's left side"
LETTERS = 28
"""Of a line of a name."""
FREE, BOUGHT = "For free: what quotes tell", "For money: what the left side of a dependency tells"


@dataclass(frozen=True, slots=True)
class MeasuredLeaks:
    """What the meter found at a provider, and why it is so."""

    provider: str
    attributes: Sequence[AttributeLeak]
    dependencies: Sequence[DependencyLeak]
    why: str


def picture_leaks(path: Path, found: MeasuredLeaks) -> None:
    """Draw it as the name of the file says."""
    write_picture(path, lambda: draw_leaks(found), lambda: _page(found))


def draw_leaks(found: MeasuredLeaks) -> Sheet:
    """A bar for each attribute and, below, for each dependency; inside `house_style`."""
    bars = [*_attribute_bars(found.attributes), *_dependency_bars(found.dependencies)]
    drawn, ((panel,),) = sheet(1, 1, row_height=0.7 + 0.24 * len(bars))
    places = [place + (place >= len(found.attributes)) for place in range(len(bars))]
    for place, bar in zip(places, bars, strict=True):
        _lying(panel, place, bar)
    for heading, above, parts in ((FREE, -1, found.attributes), (BOUGHT, len(found.attributes), found.dependencies)):
        if parts:
            panel.text(0.004, above + 0.15, heading, va="center", weight="bold", color=SOFT)
    panel.set_yticks(places, [_on_two_lines(bar.name) for bar in bars])
    panel.set_ylim(places[-1] + 0.6, -1.5)
    panel.set_xlim(0, 1)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    frame(drawn, f"{TITLE}: {found.provider}", found.why, below="people whose value is guessed right", order=(PUBLIC,))
    return drawn


@dataclass(frozen=True, slots=True)
class _Bar:
    name: str
    guessed: GuessedMore
    more: str
    """What the part beyond public columns is called."""
    colour: str
    said: str
    is_bad: bool


def _attribute_bars(attributes: Sequence[AttributeLeak]) -> Iterator[_Bar]:
    for one in attributes:
        yield _Bar(one.attribute, one.guessed, BY_QUOTES, RED, points(one.guessed), one.guessed.is_told)


def _dependency_bars(dependencies: Sequence[DependencyLeak]) -> Iterator[_Bar]:
    for one in dependencies:
        name = str(one.dependency.fd).replace("->", "→")
        yield _Bar(name, one.guessed, BY_LEFT_SIDE, ORANGE, short(one), bool(one.broken))


def _on_two_lines(name: str) -> str:
    """A name that leaves room for its bar, cut if need be.

    >>> _on_two_lines("education-num → education"), _on_two_lines("a" * 70).count("…")
    ('education-num → education', 1)
    """
    first, *more = wrap(name, LETTERS, break_on_hyphens=False)
    return "\n".join([first, *(line[: LETTERS - 1] + "…" if more[1:] else line for line in more[:1])])


def _lying(panel: Axes, place: int, bar: _Bar) -> None:
    """Who is guessed right by public columns, whom the clue adds, a whisker, and at the right what it comes to."""
    public, guessed = bar.guessed.public_guess, bar.guessed
    panel.barh(place, public, 0.62, color=GREY, label=PUBLIC)
    if guessed.leak > 0:
        panel.barh(place, guessed.leak, 0.62, left=public, color=bar.colour, label=bar.more)
    low, high = (min(max(public + end, 0), 1) for end in guessed.interval)
    if high > low:
        panel.plot([low, high], [place, place], color=INK, linewidth=0.9)
    at_the_right = panel.get_yaxis_transform()
    panel.text(1.02, place, bar.said, va="center", color=RED if bar.is_bad else GREEN, transform=at_the_right)


# ---- in words ------------------------------------------------------------------------------------------------------


def points(guessed: GuessedMore) -> str:
    """How many more are guessed right, in points of a hundred; 0 where it is no more at all.

    >>> points(GuessedMore(0.3881, (0.38, 0.396), 0.4)), points(GuessedMore(0.0, (0.0, 0.0), 0.4))
    ('+38.8 points (38.0 to 39.6)', '0: nothing')
    """
    if guessed.leak == 0 and guessed.interval == (0, 0):
        return "0: nothing"
    low, high = (100 * end for end in guessed.interval)
    return f"{100 * guessed.leak:+.1f} points ({low:.1f} to {high:.1f})"


def short(one: DependencyLeak) -> str:
    """How many X-groups a dependency leaves with too few values."""
    kind = "declared" if one.dependency.is_declared else "undeclared"
    return kind if one.broken is None else f"{kind}: {one.broken:,} of {counted(one.groups, 'X-group')} short"


# ---- as a page -----------------------------------------------------------------------------------------------------


def _page(found: MeasuredLeaks) -> str:
    worst = max(found.attributes, key=lambda one: one.guessed.leak)
    broken = sum(one.broken or 0 for one in found.dependencies)
    free = Card(
        "Worst attribute",
        f"{100 * worst.guessed.leak:.1f}",
        f"points by free quotes: {worst.attribute}",
        worst.guessed.is_told,
    )
    return standalone_page(
        page_environment(__package__),
        "leaks.html",
        title=f"{TITLE}: {found.provider}",
        lead=found.why,
        cards=[free, Card("X-groups short", f"{broken:,}", "through dependencies", broken > 0)],
        drawing=inside_a_page(draw_leaks(found), "leaks", TITLE),
        attributes=[
            (one.attribute, one.level, *_shares(one.guessed), points(one.guessed), one.ladders)
            for one in found.attributes
        ],
        dependencies=[
            (str(one.dependency.fd), one.dependency.right_level, *_shares(one.guessed), points(one.guessed), short(one))
            for one in found.dependencies
        ],
    )


def _shares(guessed: GuessedMore) -> tuple[str, str]:
    return f"{guessed.public_guess:.1%}", f"{guessed.public_guess + guessed.leak:.1%}"
