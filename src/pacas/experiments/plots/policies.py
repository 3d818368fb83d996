"""A picture of a trade-off: k and the level L of a policy, against the rows that stay for sale at each level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pacas.experiments.plots.picture import inside_a_page, write_picture
from pacas.experiments.plots.style import INK, SOFT, STACK, frame, log_ticks, sheet
from pacas.pages.environment import page_environment, standalone_page
from pacas.suggest.policies.suggested import PolicyPoint, SuggestedPolicy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

TITLE = "What k and L leave for sale"
MOST_PANELS = 4
"""Levels L that have a panel: the finest."""
MOST_IN_LINE = 8
"""k up to which its axis is linear."""


def picture_policies(path: Path, source: str, found: Sequence[SuggestedPolicy]) -> None:
    """Draw policies as the name of the file says: a page has them all, a drawing is of the first."""
    write_picture(path, lambda: draw_policy(source, found[0]), lambda: _page(source, found))


def draw_policy(source: str, found: SuggestedPolicy) -> Sheet:
    """A panel for each level L, with a line for each level at which values are sold; inside `house_style`."""
    levels = sorted({point.level for point in found.points})[:MOST_PANELS] or [0]
    drawn, (panels,) = sheet(1, len(levels), row_height=2.0, sharey=True)
    for panel, level in zip(panels, levels, strict=True):
        _panel(panel, [point for point in found.points if point.level == level], found)
        panel.set_title(f"k values at level {level}", loc="left")
    panels[0].set_ylabel("rows for sale")
    panels[0].set_ylim(-0.03, 1.05)
    panels[0].set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    frame(drawn, f"{TITLE}: {found.attribute} of {source}", in_words(found), below="k", key="sold at")
    return drawn


def in_words(found: SuggestedPolicy) -> str:
    """What is suggested."""
    if found.chosen is None:
        return f"no k above 1 keeps {found.share:.0%} of the rows for sale below the root"
    point = found.chosen
    share = point.shares[found.sold_from or 0]
    return f"k = {point.k} at level {point.level} keeps {share:.1%} of the rows for sale at level {found.sold_from}"


def _panel(panel: Axes, points: Sequence[PolicyPoint], found: SuggestedPolicy) -> None:
    """Steps: a share holds for all k up to the next point."""
    most = max((point.k for point in points), default=2)
    panel.axhline(found.share, color=SOFT, linewidth=0.9, linestyle=":", label=f"{found.share:.0%} asked for")
    for level in range(len(points[0].shares) - 1 if points else 0):
        shares = [points[0].shares[level], *(point.shares[level] for point in points)]
        wide = 3.2 - 0.8 * min(level, 3)  # the finer is seen behind the coarser
        colour = STACK[level % len(STACK)]
        k = [2, *(point.k for point in points)]
        panel.plot(k, shares, color=colour, linewidth=wide, drawstyle="steps-pre", label=f"level {level}")
    if found.chosen in points and found.chosen is not None and found.sold_from is not None:
        at = found.chosen.k, found.chosen.shares[found.sold_from]
        panel.plot(*at, "o", color=INK, markersize=5, label="suggested")
    if most > MOST_IN_LINE:
        panel.set_xscale("log")
        panel.set_xticks(ticks := log_ticks(2, most, 5), [f"{tick:g}" for tick in ticks])
        panel.set_xticks([], minor=True)
    else:
        panel.set_xticks(range(2, most + 1, max(most // 5, 1)))
    panel.set_xlim(2 / 1.1, most * 1.1)


def _page(source: str, found: Sequence[SuggestedPolicy]) -> str:
    return standalone_page(
        page_environment(__package__),
        "policies.html",
        title=f"{TITLE}: {source}",
        lead=in_words(found[0]),
        policies=[_policy(source, number, one) for number, one in enumerate(found)],
    )


def _policy(source: str, number: int, found: SuggestedPolicy) -> dict[str, object]:
    height = len(found.points[0].shares) - 1 if found.points else 0
    heads = ("k", "Level L", "Kept back from level", *(f"For sale at level {at}" for at in range(height)))
    rows = [
        (point.k, point.level, point.safe_level, *(f"{share:.1%}" for share in point.shares[:height]))
        for point in found.points
    ]
    drawing = inside_a_page(draw_policy(source, found), f"policy{number}", TITLE)
    return {"attribute": found.attribute, "drawing": drawing, "heads": heads, "rows": rows}
