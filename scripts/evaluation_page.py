"""Write docs/evaluation.md from the results in docs/evaluation/: `make docs`. No number on the page is typed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pacas.experiments.claim import Judged
from pacas.experiments.claims import judge_all
from pacas.experiments.markets.composition import ComposedTrees, by_attribute
from pacas.experiments.plots.labels import column_words, value_words
from pacas.experiments.plots.means import Means, Point, means, means_tables
from pacas.experiments.runs.figure import REAL_DATA, SCALES, Drawn, Figure
from pacas.experiments.runs.figures import FIGURES, GROUPS
from pacas.experiments.runs.results import Runs, read_table
from pacas.experiments.runs.setting import WEIGH
from pacas.experiments.verdicts import number

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "evaluation.md"
EVALUATION = DOCS / "evaluation"
RESULTS = EVALUATION / "results.parquet"
WEIGHING = EVALUATION / "weighing.parquet"
"""Of the figures of `weighing`, which are run at the small scale."""
SEALED = EVALUATION / "sealed.parquet"
"""Of the figure `sealed`, at the small scale, too."""
SEVERAL = EVALUATION / "several.parquet"
"""Of those with several providers, at the small scale, too."""

INTRODUCTION = """\
# Evaluation

Made by `make docs` from the results in `docs/evaluation`; do not edit. The claims and reasons are in
`src/pacas/experiments/claims.py`, the figures in `src/pacas/experiments/runs/figures.py`.

The paper's §7, run again with this system, on public tables that stand in for the paper's
([data sets](reference/datasets.md)). {runs}

To run it yourself, on made data and without any files, in minutes:

```sh
pacas experiment run all --output evaluation
```

and on the real tables, whose directory is not part of this project: `--data DIR --scale full`. What was stopped goes on
where it was. The directory then holds `report.html`, the plots, and one tidy table of all runs (`results.parquet`,
`results.csv`).

## How the paper was read

- **B** is the share of what buying every dirty class at level 0 would cost, if nothing were refused.
- **|S|** is the number of neighbours a cell.
- **e** is the share of tuples with an error. Each error breaks a dependency on its right side and is detectable, where
  no figure says otherwise: [side](#side) and [left](#left) have errors on left sides, and on both;
  [overwritten](#overwritten) has groups in which a block of rows, up to all of them, got one other value, and e is the
  share of groups; [unseen](#unseen) has random errors besides, as the paper does, and counts those that break nothing.
- **l** is lowered for an attribute whose hierarchy has fewer than k values at it: 4 is 3 for those of four levels.
- **Two policies.** *linked*, as in the paper: X is the quasi-identifiers alone, though requests are matched by other
  columns. *guarded*: X holds these, too, so that nobody is found by more than X; ground values are then never sold.
  Claims of the paper are judged on the paper's, unless they say otherwise.
- **Two kinds of quotes.** The paper's, which follow from the values, and tell of them; and *sealed* ones, our default,
  which follow from public columns alone. [quotes](#quotes) shows both; all else here is with the paper's, and
  `--quotes sealed` runs it again with the other. A class is then one unit: rows that agree on a left side are found,
  priced, kept back and sold together.
- **Three clients.** *replace*, as in the paper: the bought value is written over the whole class. *refine*: if cells of
  the class lie below the bought value, the most frequent of them is written. *weigh*: what may be wrong is weighed by
  the client's own evidence, left sides too, and bought for where that pays. Beside them *no purchase*, a free vote in
  each class, and PrivateClean; a line that knows nothing of what is varied is level, and one far above all others is
  said in words. In [unseen](#unseen) *weigh* also looks further, at what breaks no dependency, in all columns.
- **What no dependency sees**: wrong cells whose tuples are in no violation of a dependency that names their attribute.
  Their part of the error is a dotted line; whoever looks at dependencies alone cannot come below it.
- **Repair error** is δ against the truth, summed over the cells, or divided by that of the dirty table: 1 is where the
  client began.
- **Time** is CPU seconds of all threads, in `modules` seconds by the clock. The machine did other work meanwhile, which
  moves both; claims about time take the least of the seeds. The ledger is in memory.
- An error rises if it ends higher than it begins, by more than 2 % of the largest value, and never falls by more than
  that on the way; errors are means over the seeds. A time rises if it ends more than 10 % above where it began.
- Parameters are varied, and methods compared, on {sweep:,} rows of a table, or all it has; how time grows is measured
  up to whole tables. What weighing makes of each kind of errors ({weighing}) is run on {small:,} rows
  of each: {small_runs} So is [sealed](#sealed): {sealed_runs}
- **Never worse** is asked of every kind of errors at every rate with every budget: [crossed](#crossed) has {cases:,}
  cases, four seeds each. A cell of its map is what weighing leaves of the most that it may: the dirty table's error
  (1.02 times that with one seed), or 1.02 times that of a vote or of *refine* at the same budget, if that is less. A
  client that weighs and could pay for anything to its end does the same with more money: that run is not made again.
- **Several providers** ([panel](#panel), [panel_stale](#panel_stale)) are run on as many rows. Each knows 60 % of the
  keys, drawn by itself; the third says 15 % of them wrongly and asks for 70 % of the price. Nothing is held back
  (k = 1), and B is 1. *stale* errors are random ones in a fifth of the tuples, and in 30 % of the groups of three rows
  or more a wrong value that holds the majority. *refine* is then the paper's strategy with a panel: {several_runs}
"""


def render() -> str:
    """The whole page."""
    runs = Runs.of(read_table(RESULTS), REAL_DATA, SCALES["full"])
    small = Runs.of(read_table(WEIGHING), REAL_DATA, SCALES["small"])
    several = Runs.of(read_table(SEVERAL), REAL_DATA, SCALES["small"]) if SEVERAL.exists() else small
    weighing = GROUPS["weighing"]
    sealed = Runs.of(read_table(SEALED), REAL_DATA, SCALES["small"])
    of = {figure: small if figure in weighing else sealed if figure == "sealed" else runs for figure in FIGURES}
    of |= dict.fromkeys(GROUPS["several"], several)
    judged = {id(each): judge_all(each) for each in (runs, small, sealed, several)}
    claims = [judged[id(of[claim.figure])][place] for place, claim in enumerate(judged[id(runs)])]
    introduction = INTRODUCTION.format(
        runs=_what_ran(runs),
        sweep=runs.scale.sweep,
        weighing=", ".join(f"[{name}](#{name})" for name in weighing),
        small=small.scale.sweep,
        small_runs=_what_ran(small),
        cases=len(means(FIGURES["crossed"], small).of(method=WEIGH)),
        sealed_runs=_what_ran(sealed),
        several_runs=_what_ran(several) if several is not small else "not run here yet.",
    )
    parts = [
        introduction,
        "## Claims\n",
        *_summary(claims),
        *(part for name, figure in FIGURES.items() for part in _figure(figure, of[name], claims)),
        *_markets(),
    ]
    return "\n".join(parts).rstrip() + "\n"


MARKETS = """\
## composition

Two providers that are each safe alone (`pacas experiment composition`, {rows} rows at most of each table). *Different
trees*: each answers with the finest node that has k = 3 values below it; of so many of the people whose value both
trees have, what the two answers have in common is fewer than three values, or one. The first tree is the attribute's
own (diagnosis: CCSR, drug: ATC, occupation: ARX); the second is clustered by another column of the table, each that has
2 to 200 values in turn, and the share is their median, the least and the most of them. Intervals are shifted by half.
Nothing but [one tree](decisions/0018-safe-together.md) mends it.

How much is told depends on what the other provider clustered by, more than on the attribute. The prototype that began
this counted people, too (48.2 % of 15 occupations is no whole number), with one second tree of each; by which column,
into how many clusters and from which rows is not known, and its figures are not reached again one by one; those of its
clustered trees lie within the ranges here. Of intervals it said
that nothing is told, which is so where they are wide: what is left is half of one. Where ages are in intervals of five,
as in ARX's tree, {narrow} of the people have fewer than three years left.
"""

PROTOTYPE = {
    ("discharges", "diagnosis"): ("92.7%", "78.1%"),
    ("clinical", "drug_name"): ("84.8%", "52.2%"),
    ("adult", "occupation"): ("48.2%", "15.5%"),
    ("adult", "age"): ("0%", "0%"),
    ("adult", "hours-per-week"): ("0%", "0%"),
}
"""What a prototype had found: fewer than k, and pinned."""

PAIRS = """\
*Two attributes*: a policy asks for three possible pairs of each person; one provider sells the first attribute, at
the ground, the other the second. With a [clearing house](decisions/0018-safe-together.md#a-clearing-house) the second
sale is refused.
"""

SURPLUS = """\
## surplus

Prices in simulated markets (`pacas experiment surplus`): 120 accounts of three sizes, with wishes that are worth a
share of the list price to them. A provider knows one quarter and is judged on the next. It posts the one rate that
brings most; or one schedule of two steps for all, that leaves buyers no less; or agrees with each account on a
schedule of its own, one that makes most of what both gain. Valuations are made up: the figures say what terms can
bring, not what they will. They follow the model, too: where accounts of one size differ less in what a wish is worth
to them, and a schedule goes to a size instead of to an account, revenue rose by 8 to 10 % and surplus by 0 to 2.4 %.
"""


def _markets() -> Iterator[str]:
    """What several providers tell together, and what several buyers pay."""
    trees = [
        ComposedTrees(
            one["dataset"],
            one["attribute"],
            one["second"],
            one["by"],
            int(one["k"]),
            int(one["values"]),
            float(one["fewer"]),
            float(one["pinned"]),
        )
        for one in read_lines(EVALUATION / "composition.csv")
    ]
    narrow = next(one.fewer for one in trees if "of 5 " in one.second)
    yield MARKETS.format(rows="8,000", narrow=f"{narrow:.1%}")
    yield from _market_table(
        ("data set", "attribute", "second trees", "values", "left with fewer than k", "pinned to one", "prototype"),
        (
            (
                one.dataset,
                one.attribute,
                one.second if one.trees == 1 else f"{one.trees}, {one.second}",
                str(one.values),
                str(one.fewer),
                str(one.pinned),
                ", ".join(PROTOTYPE.get((one.dataset, one.attribute), ())),
            )
            for one in by_attribute(trees)
        ),
    )
    yield PAIRS
    yield from _market_table(
        ("data set", "sold by two providers", "clearing house", "sold", "people broken"),
        (
            (
                one["dataset"],
                one["attributes"],
                "yes" if one["house"] == "True" else "no",
                f"{int(one['sold']):,}",
                f"{int(one['broken']):,} of {int(one['people']):,}",
            )
            for one in read_lines(EVALUATION / "pairs.csv")
        ),
    )
    yield SURPLUS
    yield from _market_table(
        ("market", "prices", "revenue", "over the posted rate", "buyers' surplus", "over the posted rate"),
        (
            (
                one["seed"],
                one["way"],
                f"{float(one['revenue']):,.0f}",
                f"{float(one['revenue_gain']):+.1%}",
                f"{float(one['surplus']):,.0f}",
                f"{float(one['surplus_gain']):+.1%}",
            )
            for one in read_lines(EVALUATION / "surplus.csv")
        ),
    )


def read_lines(path: Path) -> list[dict[str, str]]:
    """What an experiment on markets has written."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _market_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _what_ran(runs: Runs) -> str:
    """Of each setting there are as many runs as seeds; one that is known from a run with less money took no time."""
    lines = list(runs.lines.values())
    commits = " and ".join(sorted({f"`{line['commit']}`" for line in lines if line["commit"]}))
    took = {(replace(setting, budget=0.0), line["seconds"]) for setting, line in runs.lines.items()}
    hours, seeds = sum(seconds for _, seconds in took) / 3600, len({line["seed"] for line in lines})
    clock = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
    known = f" ({len(lines) - len(took):,} known from one with less money)" if len(took) < len(lines) else ""
    return (
        f"{len(lines):,} runs{known}, {seeds} seeds each, at {commits}; cleaning alone took {clock} of "
        "the clock, two runs at a time on two cores."
    )


def _summary(claims: Sequence[Judged]) -> Iterator[str]:
    papers = [claim for claim in claims if claim.in_paper]
    agreeing = sum(claim.agrees is True for claim in papers)
    yield f"{agreeing} of the paper's {len(papers)} claims agree; each disagreement is explained at its figure.\n"
    yield from _table(papers)
    yield "What the paper does not ask:\n"
    yield from _table([claim for claim in claims if not claim.in_paper])


def _table(claims: Sequence[Judged]) -> Iterator[str]:
    yield "| claim | ours | figure |"
    yield "| --- | --- | --- |"
    for claim in claims:
        yield f"| {_cell(claim.claim)} | {_verdict(claim)} | [{claim.figure}](#{claim.figure}) |"
    yield ""


def _verdict(claim: Judged) -> str:
    return {True: "agrees", False: "**disagrees**", None: "not run"}[claim.agrees]


def _figure(figure: Figure, runs: Runs, claims: Sequence[Judged]) -> Iterator[str]:
    found = means(figure, runs)
    yield f"## {figure.name}\n"
    yield f"{figure.title}.\n"
    if not (DOCS / "evaluation" / f"{figure.name}.svg").exists():
        yield "Not run yet.\n"
        return
    yield f"![{figure.title}](evaluation/{figure.name}.svg)\n"
    for claim in claims:
        if claim.figure == figure.name:
            yield f"- **{claim.claim}**: {_verdict(claim)}. Measured: {claim.measured}. {claim.why}"
    yield ""
    yield "<details><summary>The means in figures</summary>\n"
    yield from _by_x(found) if figure.drawn in (Drawn.LINES, Drawn.MAPS) else _by_column(found)
    yield "\n</details>\n"


def _by_x(found: Means) -> Iterator[str]:
    """For each column that is shown: a row per line, a column per value of x."""
    figure = found.figure
    for table in means_tables(found):
        kind = f" ({value_words(figure.panels, table.panel)})" if figure.panels else ""
        yield f"\n{column_words(table.column).capitalize()}{kind}, by {column_words(figure.x)}:\n"
        yield _row(["data set", "line", *table.xs])
        yield _row(["---"] * (2 + len(table.xs)))
        for names, points in table.rows.items():
            means_of = [_mean(points[x], table.column) if x in points else "" for x in table.xs]
            if any(means_of):
                yield _row([*names, *means_of])


def _by_column(found: Means) -> Iterator[str]:
    """A row per point, a column per column that is shown."""
    figure = found.figure
    named = list(dict.fromkeys(("dataset", *figure.lines, figure.x)))
    yield "\n" + _row([*(map(column_words, named)), *map(column_words, figure.shows)])
    yield _row(["---"] * (len(named) + len(figure.shows)))
    for point in found.points:
        names = [value_words(n, point.at(n)) if n != "guard" or point.setting.buys else "" for n in named]
        yield _row([*names, *(_mean(point, column) for column in figure.shows)])


def _mean(point: Point, column: str) -> str:
    spread = point.spread(column)
    return "" if spread is None else number(spread.mean)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
