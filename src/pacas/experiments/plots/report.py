"""An evaluation as one page of HTML: what was run, what the paper claims and what came of it, and every figure.

It opens offline and fetches nothing: the figures stand in it as SVG, drawn before (`draw.py`). It looks like the
report of a cleaning, and is as light or dark as the reader's other pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from pacas.core.words import counted
from pacas.experiments.claims import Judged
from pacas.experiments.plots.labels import (
    DATASET_LABELS,
    EXPLAINED,
    GUARD_LABELS,
    METHOD_LABELS,
    QUOTES_LABELS,
    column_words,
    family_words,
    value_words,
)
from pacas.experiments.plots.means import Means, Point, means
from pacas.experiments.plots.style import INK, LINE, PAPER, SOFT
from pacas.experiments.runs.figures import Figure, all_settings
from pacas.experiments.runs.results import Line, Runs
from pacas.experiments.runs.setting import SHARED, Setting
from pacas.experiments.verdicts import number
from pacas.formats.replacing import replacing
from pacas.formats.report.html import Card, cards, html_page, section, table

TITLE = "The evaluation of PACAS"
VERDICTS = {
    True: '<span class="verdict">agrees</span>',
    False: '<span class="verdict no">disagrees</span>',
    None: '<span class="verdict open">not run</span>',
}


def write_report(folder: Path, figures: Sequence[Figure], runs: Runs, claims: Sequence[Judged]) -> Path:
    """Write `report.html` beside the figures and the results."""
    path = folder / "report.html"
    with replacing(path) as partial:
        partial.write_text(report_page(folder, figures, runs, claims), "utf-8", newline="\n")
    return path


def report_page(folder: Path, figures: Sequence[Figure], runs: Runs, claims: Sequence[Judged]) -> str:
    """The page's text; the figures' SVG is read from the folder."""
    settings = all_settings(tuple(figures), runs.collection, runs.scale)
    lines = [runs.lines[setting] for setting in settings if setting in runs.lines]
    parts = [
        _counts(lines, len(settings), claims),
        _data(lines),
        _claims(claims, {figure.name for figure in figures}),
        _words(lines),
        *(_figure(folder, means(figure, runs)) for figure in figures),
    ]
    style = (files(__package__) / "page" / "style.css").read_text("utf-8")
    return html_page(title=TITLE, lead=_lead(lines, runs), sections=parts, style=style)


def _lead(lines: Sequence[Line], runs: Runs) -> str:
    """What ran: the scale, the version and the commit."""
    said = [f"Scale: {runs.scale.name}"]
    for name in ("version", "commit"):
        found = sorted({line[name] for line in lines if line[name] is not None})
        said += [f"{name} {', '.join(found)}"] if found else []
    return "; ".join(said) + ". Each point of a figure is the mean of runs that differ in their seed alone."


def _counts(lines: Sequence[Line], asked: int, claims: Sequence[Judged]) -> str:
    judged = [claim for claim in claims if claim.agrees is not None]
    missing = asked - len(lines)
    seeds = {line["seed"] for line in lines}
    hours, minutes = divmod(round(sum(line["seconds"] or 0 for line in lines) / 60), 60)
    return cards(
        Card("Claims that agree", f"{sum(bool(claim.agrees) for claim in judged):,}", f"of {len(judged):,} judged"),
        Card("Runs", f"{len(lines):,}", f"{missing:,} missing" if missing else "none missing", missing > 0),
        Card("Seeds", f"{len(seeds):,}", "of errors, support sets and noise"),
        Card("Time", f"{hours} h {minutes} min" if hours else f"{minutes} min", "of cleaning, by the clock"),
    )


def _data(lines: Sequence[Line]) -> str:
    """The data sets, and how large they were."""
    of_each: dict[str, list[Line]] = {}
    for line in lines:
        of_each.setdefault(line["dataset"], []).append(line)
    rows = [
        (DATASET_LABELS.get(name, name), name, max(line["actual_rows"] for line in found), len(found))
        for name, found in of_each.items()
    ]
    return section("What was run", table(("Data set", "Name", "Rows, at most", "Runs"), rows, empty="Nothing yet."))


def _claims(claims: Sequence[Judged], figures: set[str]) -> str:
    if not claims:
        return section("What the paper claims", "<p>No claim was judged.</p>")
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Claim", "Ours", "Measured", "Why", "Figure"))
    body = "".join(_claim(claim, claim.figure in figures) for claim in claims)
    inner = f'<table class="claims"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return section("What the paper claims", f'<div class="scroll">{inner}</div>')


def _claim(claim: Judged, is_shown: bool) -> str:
    name = escape(claim.figure)
    figure = f'<a href="#figure-{name}">{name}</a>' if is_shown else name
    cells = (VERDICTS[claim.agrees], escape(claim.measured), escape(claim.why), figure)
    kinds = ("verdicts", "measured", "why", "shown")
    rest = "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, cells, strict=True))
    return f'<tr><th scope="row">{escape(claim.claim)}</th>{rest}</tr>'


def _words(lines: Sequence[Line]) -> str:
    """What the methods and policies are, of those that were run."""
    names = {**METHOD_LABELS, **GUARD_LABELS, **QUOTES_LABELS}
    used = {line[column] for line in lines for column in ("method", "guard", "quotes")}
    said = [name for name in names if name in used]
    inner = "".join(f"<dt>{escape(names[name])}</dt><dd>{escape(EXPLAINED[name])}</dd>" for name in said)
    return section("Words", f'<dl class="words">{inner}</dl>' if said else "<p>Nothing was run yet.</p>")


def _figure(folder: Path, found: Means) -> str:
    figure = found.figure
    drawn = folder / f"{figure.name}.svg"
    shown = (
        inline_svg(drawn.read_text("utf-8"), figure.name, figure.title)
        if drawn.exists()
        else "<p>It was not drawn.</p>"
    )
    links = " · ".join(
        f'<a href="{escape(name)}">{escape(words)}</a>'
        for name, words in ((f"{figure.name}.svg", "SVG"), (f"{figure.name}.png", "PNG"), ("results.csv", "data"))
    )
    caption = f"<figcaption>{escape(_caption(found))} {links}</figcaption>"
    of_means = f"<details><summary>The means in figures</summary>{_means_table(found)}</details>"
    return section(figure.title, f'<figure id="figure-{escape(figure.name)}">{shown}{caption}</figure>{of_means}')


def _caption(found: Means) -> str:
    what = family_words(found.figure.shows)
    missing = f" {found.missing:,} of {counted(found.missing + found.runs, 'run')} missing." if found.missing else ""
    return f"Figure “{found.figure.name}”: {what}. By {column_words(found.figure.x)}.{missing}"


def _means_table(found: Means) -> str:
    figure = found.figure
    named = tuple(dict.fromkeys(("dataset", *((figure.panels,) if figure.panels else ()), *figure.lines, figure.x)))
    heads = [words[0].upper() + words[1:] for words in map(column_words, (*named, *figure.shows))]
    heads.insert(len(named), "Runs")
    rows = [(*_names(point, named), len(point.runs), *_numbers(point, figure)) for point in found.points]
    return table(heads, rows, empty="No runs.")


def _names(point: Point, named: Sequence[str]) -> Iterator[str]:
    for name in named:
        applies = point.setting.buys or name in SHARED or name not in Setting.__dataclass_fields__
        yield value_words(name, point.at(name)) if applies else "–"


def _numbers(point: Point, figure: Figure) -> Iterator[str]:
    for column in figure.shows:
        spread = point.spread(column)
        yield "–" if spread is None else number(spread.mean)


PAGE_COLOURS = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)", PAPER: "var(--card)"}
"""What the reports' style sheet calls them, which knows light pages and dark ones."""

_NOT_NEEDED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|\sxmlns(:\w+)?=\"[^\"]*\"", re.DOTALL)


def inline_svg(text: str, name: str, said: str) -> str:
    """The SVG element of a file that `style.save` wrote. Ids begin with the name, as several share a page."""
    drawing = _NOT_NEEDED.sub("", text[text.index("<svg") :])
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", drawing)
    drawing = re.sub(r' (width|height)="[\d.]+pt"', "", drawing, count=2)
    for colour, variable in PAGE_COLOURS.items():
        drawing = drawing.replace(colour, variable)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1)
