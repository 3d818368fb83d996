"""An evaluation as one page of HTML: what was run, what the paper claims and what came of it, and every figure.

It opens offline and fetches nothing: the figures stand in it as SVG, drawn before (`draw.py`). It looks like the
report of a cleaning, and is as light or dark as the reader's other pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from markupsafe import Markup

from pacas.core.words import counted
from pacas.experiments.claim import Judged
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
from pacas.experiments.plots.style import INK, LINE, PAPER, RED, SOFT
from pacas.experiments.runs.figure import Figure, all_settings
from pacas.experiments.runs.results import Line, Runs
from pacas.experiments.runs.setting import SHARED, Setting
from pacas.experiments.verdicts import number
from pacas.formats.replacing import replacing
from pacas.pages.environment import page_environment, standalone_page
from pacas.pages.pieces import Card


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
    return standalone_page(
        page_environment(__package__),
        "evaluation.html",
        lead=_lead(lines, runs),
        cards=_counts(lines, len(settings), claims),
        datasets=_data(lines),
        claims=claims,
        shown={figure.name for figure in figures},
        words=_words(lines),
        figures=[_figure(folder, means(figure, runs)) for figure in figures],
    )


def _lead(lines: Sequence[Line], runs: Runs) -> str:
    """What ran: the scale, the version and the commit."""
    said = [f"Scale: {runs.scale.name}"]
    for name in ("version", "commit"):
        found = sorted({line[name] for line in lines if line[name] is not None})
        said += [f"{name} {', '.join(found)}"] if found else []
    return "; ".join(said) + ". Each point of a figure is the mean of runs that differ in their seed alone."


def _counts(lines: Sequence[Line], asked: int, claims: Sequence[Judged]) -> list[Card]:
    judged = [claim for claim in claims if claim.agrees is not None]
    missing = asked - len(lines)
    seeds = {line["seed"] for line in lines}
    hours, minutes = divmod(round(sum(line["seconds"] or 0 for line in lines) / 60), 60)
    return [
        Card("Claims that agree", f"{sum(bool(claim.agrees) for claim in judged):,}", f"of {len(judged):,} judged"),
        Card("Runs", f"{len(lines):,}", f"{missing:,} missing" if missing else "none missing", missing > 0),
        Card("Seeds", f"{len(seeds):,}", "of errors, support sets and noise"),
        Card("Time", f"{hours} h {minutes} min" if hours else f"{minutes} min", "of cleaning, by the clock"),
    ]


def _data(lines: Sequence[Line]) -> list[tuple[str, str, int, int]]:
    """The data sets, and how large they were."""
    of_each: dict[str, list[Line]] = {}
    for line in lines:
        of_each.setdefault(line["dataset"], []).append(line)
    return [
        (DATASET_LABELS.get(name, name), name, max(line["actual_rows"] for line in found), len(found))
        for name, found in of_each.items()
    ]


def _words(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """What the methods and policies are, of those that were run."""
    names = {**METHOD_LABELS, **GUARD_LABELS, **QUOTES_LABELS}
    used = {line[column] for line in lines for column in ("method", "guard", "quotes")}
    return [(names[name], EXPLAINED[name]) for name in names if name in used]


def _figure(folder: Path, found: Means) -> dict[str, object]:
    """A figure as it was drawn, if it was, with the means it shows."""
    name, title = found.figure.name, found.figure.title
    drawn = folder / f"{name}.svg"
    drawing = inline_svg(drawn.read_text("utf-8"), name, title) if drawn.exists() else None
    heads, rows = _means_table(found)
    return {"name": name, "title": title, "drawing": drawing, "caption": _caption(found), "heads": heads, "rows": rows}


def _caption(found: Means) -> str:
    what = family_words(found.figure.shows)
    missing = f" {found.missing:,} of {counted(found.missing + found.runs, 'run')} missing." if found.missing else ""
    return f"Figure “{found.figure.name}”: {what}. By {column_words(found.figure.x)}.{missing}"


def _means_table(found: Means) -> tuple[list[str], list[tuple[object, ...]]]:
    figure = found.figure
    named = tuple(dict.fromkeys(("dataset", *((figure.panels,) if figure.panels else ()), *figure.lines, figure.x)))
    heads = [words[0].upper() + words[1:] for words in map(column_words, (*named, *figure.shows))]
    heads.insert(len(named), "Runs")
    return heads, [(*_names(point, named), len(point.runs), *_numbers(point, figure)) for point in found.points]


def _names(point: Point, named: Sequence[str]) -> Iterator[str]:
    for name in named:
        applies = point.setting.buys or name in SHARED or name not in Setting.__dataclass_fields__
        yield value_words(name, point.at(name)) if applies else "–"


def _numbers(point: Point, figure: Figure) -> Iterator[str]:
    for column in figure.shows:
        spread = point.spread(column)
        yield "–" if spread is None else number(spread.mean)


PAGE_COLOURS = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)", PAPER: "var(--card)", RED: "var(--bad)"}
"""What the reports' style sheet calls them, which knows light pages and dark ones."""

_NOT_NEEDED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|\sxmlns(:\w+)?=\"[^\"]*\"", re.DOTALL)


def inline_svg(text: str, name: str, said: str) -> Markup:
    """The SVG element of a file that `style.save` wrote. Ids begin with the name, as several share a page."""
    drawing = _NOT_NEEDED.sub("", text[text.index("<svg") :])
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", drawing)
    drawing = re.sub(r' (width|height)="[\d.]+pt"', "", drawing, count=2)
    for colour, variable in PAGE_COLOURS.items():
        drawing = drawing.replace(colour, variable)
    return Markup(drawing.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1))
