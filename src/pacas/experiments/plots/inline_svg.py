"""A drawing as a part of a page: without a header, with names of its own, and in the page's colours."""

from __future__ import annotations

import re
from html import escape

from pacas.experiments.plots.style import INK, LINE, PAPER, SOFT

PAGE_COLOURS = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)", PAPER: "var(--card)"}
"""What the reports' style sheet calls them, which knows light pages and dark ones."""

_NOT_NEEDED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|\sxmlns(:\w+)?=\"[^\"]*\"", re.DOTALL)


def inline_svg(text: str, name: str, said: str) -> str:
    """The SVG element of a file that `plot_style.save` wrote. Ids begin with the name, as several share a page."""
    drawing = _NOT_NEEDED.sub("", text[text.index("<svg") :])
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", drawing)
    drawing = re.sub(r' (width|height)="[\d.]+pt"', "", drawing, count=2)
    for colour, variable in PAGE_COLOURS.items():
        drawing = drawing.replace(colour, variable)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1)
