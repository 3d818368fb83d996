"""`pacas experiment`: the paper's evaluation, run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from pacas.cli.options import Json, command_group, out, print_json, progress
from pacas.core.words import counted
from pacas.errors import FileError
from pacas.experiments.claim import Judged
from pacas.experiments.datasets.load import check_directory
from pacas.experiments.evaluation import SYNTHETIC, Evaluation, EvaluationPlan, evaluate
from pacas.experiments.markets.composition import PEOPLE, by_attribute, composed_trees, sold_pairs
from pacas.experiments.markets.surplus import compare_prices
from pacas.experiments.plots.labels import column_words, value_words
from pacas.experiments.plots.means import Means, means_tables
from pacas.experiments.runs.figure import REAL_DATA, SEEDS, SYNTHETIC_DATA
from pacas.experiments.runs.figures import GROUPS
from pacas.experiments.runs.running import EvaluationProgress
from pacas.experiments.runs.setting import PAPER
from pacas.formats.replacing import write_lines

app = command_group(
    """The paper's evaluation: run it again, and see what its claims come to.

    Example: pacas experiment run declined --output evaluation
    """
)


@app.command("run")
def run(
    figure: Annotated[
        str,
        typer.Argument(
            metavar="FIGURE", help="A figure's name, such as budget or privateclean, paper, weighing, several, or all."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where everything goes.")],
    data: Annotated[
        str, typer.Option(metavar="DIR|synthetic", help="Where the real data sets lie; or made ones, without files.")
    ] = SYNTHETIC,
    scale: Annotated[str, typer.Option(metavar="small|full", help="How much of the data sets is taken.")] = "small",
    quotes: Annotated[
        str, typer.Option(metavar="paper|sealed", help="Whose quotes the provider gives; the figure quotes has both.")
    ] = PAPER,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs at a time; by default as many as there are cores.")
    ] = os.cpu_count() or 1,
    json: Json = False,
) -> None:
    """Run one figure of the evaluation, or all: tidy results, plots, a report, and a verdict on each claim.

    The figures: distance, general, support, k, level, errors, budget, privateclean, baselines, declined, quotes,
    max_level, allocation, quasi_identifiers, side, rows, modules; and, for what weighing makes of each kind of errors,
    right, left, overwritten, error_rate, crossed, unseen: weighing runs all of these, and their means are printed;
    paper runs those before them.
    Every setting is run with four seeds. What was run is kept: the same command with the same output goes on where it
    was stopped.

    JSON: results (a file), claims (claim, agrees, figure, measured, in_paper), plots, report, runs

    Example: pacas experiment run declined --data synthetic --scale small --output evaluation
    """
    plan = EvaluationPlan.of(figure, data, scale, output, quotes)
    if plan.data is not None:
        check_directory(plan.data)
    _make_folder(output)
    with progress() as tell, _continuable(output):
        evaluation = evaluate(plan, jobs=jobs, progress=lambda step: tell(_described(step)))
    if json:
        print_json(_document(evaluation))
    else:
        _show(evaluation)


@app.command("composition")
def composition(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the tables go.")],
    data: Annotated[
        str, typer.Option(metavar="DIR|synthetic", help="Where the real data sets lie; or made ones, without files.")
    ] = SYNTHETIC,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows of each data set.")] = 8000,
    people: Annotated[int, typer.Option(min=1, metavar="N", help="People whose pairs are bought.")] = PEOPLE,
    json: Json = False,
) -> None:
    """What two providers tell together that are each safe alone: over different trees, and over two attributes.

    A second tree is clustered by each column that will do; the table has the medians, and the range, of the people that
    two trees leave with too few values.

    JSON: trees (dataset, attribute, second, by, k, values, fewer, pinned), pairs (dataset, attributes, house, people,
    sold, broken), files

    Example: pacas experiment composition --rows 500 --people 50 --output evaluation
    """
    directory = None if data == SYNTHETIC else Path(data)
    if directory is not None:
        check_directory(directory)
    names = (SYNTHETIC_DATA if directory is None else REAL_DATA).all
    _make_folder(output)
    with progress() as tell:
        tell("composing trees")
        trees = list(composed_trees(names, directory, rows))
        tell("selling pairs")
        pairs = list(sold_pairs(names, directory, people))
    files = [_written(output / "composition.csv", trees), _written(output / "pairs.csv", pairs)]
    if json:
        told = {"trees": [one._asdict() for one in trees], "pairs": [one._asdict() for one in pairs]}
        print_json({**told, "files": list(map(str, files))})
        return
    table = Table("data set", "attribute", "second trees", "values", "fewer than k", "pinned", box=None)
    for one in by_attribute(trees):
        second = f"{one.trees}, {one.second}"
        table.add_row(one.dataset, one.attribute, second, f"{one.values:,}", str(one.fewer), str(one.pinned))
    out.print(table, "")
    table = Table("data set", "sold by two", "house", "sold", "broken", box=None)
    for pair in pairs:
        house, broken = "yes" if pair.house else "no", f"{pair.broken:,} of {pair.people:,}"
        table.add_row(pair.dataset, pair.attributes, house, f"{pair.sold:,}", broken)
    out.print(table)


@app.command("surplus")
def surplus(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the table goes.")],
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="How many markets are drawn.")] = len(SEEDS),
    json: Json = False,
) -> None:
    """What schedules and private offers bring over the best posted rate, in simulated markets.

    JSON: lines (seed, way, revenue, surplus, revenue_gain, surplus_gain), file

    Example: pacas experiment surplus --seeds 1 --output evaluation
    """
    _make_folder(output)
    with progress() as tell:
        tell("drawing markets")
        lines = list(compare_prices(range(1, seeds + 1)))
    file = _written(output / "surplus.csv", lines)
    if json:
        print_json({"lines": [one._asdict() for one in lines], "file": str(file)})
        return
    table = Table("market", "prices", "revenue", "buyers' surplus", box=None)
    for one in lines:
        table.add_row(str(one.seed), one.way, f"{one.revenue_gain:+.1%}", f"{one.surplus_gain:+.1%}")
    out.print(table)


def _written(path: Path, lines: Sequence[NamedTuple]) -> Path:
    """Results of one kind as a table, a column for each of their fields; where."""
    write_lines(path, lines[0]._fields if lines else (), lines)
    return path


def _make_folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{output} cannot be made ({error.strerror}); give another --output") from None


@contextmanager
def _continuable(output: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(f"pacas: what was run is in {output}: the same command goes on from there", file=sys.stderr)
        raise


def _described(step: EvaluationProgress) -> str:
    minutes, seconds = divmod(round(step.seconds_left), 60)
    left = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
    return f"{step.done:,} of {counted(step.of, 'run')}, about {left} left; last: {step.setting.dataset}"


def _document(evaluation: Evaluation) -> dict[str, object]:
    return {
        "results": str(evaluation.results),
        "claims": [judged.as_dict() for judged in evaluation.claims],
        "plots": [str(path) for path in evaluation.plots],
        "report": str(evaluation.report),
        "runs": evaluation.runs,
    }


def _show(evaluation: Evaluation) -> None:
    for found in evaluation.means:
        if found.figure.name in GROUPS["weighing"]:
            show_means(found)
    if evaluation.claims:
        table = Table("figure", "claim", "ours", "measured", box=None, header_style="bold")
        for judged in evaluation.claims:
            table.add_row(judged.figure, judged.claim, _verdict(judged), judged.measured)
        out.print(table)
    out.print(f"{counted(evaluation.runs, 'run')} made; results in {evaluation.results}")
    out.print(f"Report: {evaluation.report}")


def show_means(found: Means) -> None:
    """A table for each kind of errors and thing that is shown: a row per data set and method."""
    figure = found.figure
    for shown in means_tables(found):
        kind = f"{value_words(figure.panels, shown.panel)}: " if figure.panels else ""
        table = Table("data set", "method", box=None, header_style="bold", title_justify="left")
        table.title = f"{figure.name}: {kind}{column_words(shown.column)}, by {column_words(figure.x)}"
        for x in shown.xs:
            table.add_column(x, justify="right")
        for names, points in shown.rows.items():
            spreads = [points[x].spread(shown.column) if x in points else None for x in shown.xs]
            if any(spreads):
                table.add_row(*names, *("" if spread is None else f"{spread.mean:.3f}" for spread in spreads))
        out.print(table, "")


def _verdict(judged: Judged) -> Text:
    if judged.agrees is None:
        return Text("not run", style="dim")
    return Text("agrees", style="green") if judged.agrees else Text("disagrees", style="yellow")
