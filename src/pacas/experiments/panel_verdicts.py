"""How the runs speak for or against a panel of three providers, each of which knows a part of the truth."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from pacas.experiments.runs.results import Runs
from pacas.experiments.runs.setting import CHEAP, COMPLETE, FIRST, PANEL, SECOND
from pacas.experiments.verdicts import Judge, Verdict, number

NOTHING = 1e-9
"""What floats may be off."""


def left_by_a_panel(figure: str, method: str, at_most: float) -> Judge:
    """Does it leave so much of the dirty error, on average over the data sets?"""

    def judge(runs: Runs) -> Verdict:
        left = _means(runs, figure, method, PANEL, "relative_error")
        said = ", ".join(f"{dataset} {number(share)}" for dataset, share in left.items())
        return Verdict(fmean(left.values()) <= at_most + NOTHING, f"{number(fmean(left.values()))} on average: {said}")

    return judge


def money_of_a_panel(figure: str, method: str, at_most: float) -> Judge:
    """Does it cost so much of what one faultless, complete provider does, on average over the data sets?"""

    def judge(runs: Runs) -> Verdict:
        spent, theirs = (_means(runs, figure, method, who, "spent") for who in (PANEL, COMPLETE))
        share = {dataset: spent[dataset] / theirs[dataset] for dataset in spent if theirs[dataset]}
        said = ", ".join(f"{dataset} {number(of)}" for dataset, of in share.items())
        return Verdict(
            fmean(share.values()) <= at_most + NOTHING, f"{number(fmean(share.values()))} on average: {said}"
        )

    return judge


def no_worse_than_the_best(figure: str, method: str) -> Judge:
    """Does it leave no more than the best of its providers would alone, on each data set? Single runs are told."""

    def judge(runs: Runs) -> Verdict:
        mine = _means(runs, figure, method, PANEL, "relative_error")
        alone = [_means(runs, figure, method, who, "relative_error") for who in (FIRST, SECOND, CHEAP)]
        best = {dataset: min(one[dataset] for one in alone) for dataset in mine}
        said = ", ".join(f"{dataset} {number(of)} against {number(best[dataset])}" for dataset, of in mine.items())
        agrees = all(of <= best[dataset] + NOTHING for dataset, of in mine.items())
        return Verdict(agrees, f"{said}; {_single_runs(runs, figure, method)}")

    return judge


def _single_runs(runs: Runs, figure: str, method: str) -> str:
    mine, *alone = (_by_seed(runs, figure, method, who, "relative_error") for who in (PANEL, FIRST, SECOND, CHEAP))
    best = {run: min(one[run] for one in alone) for run in mine}
    worse = [run for run in mine if mine[run] > best[run] + NOTHING]
    told = "".join(
        f": {name}, seed {seed}, {number(mine[name, seed])} against {number(best[name, seed])}" for name, seed in worse
    )
    return f"of {len(mine)} single runs {len(worse)} {'leaves' if len(worse) == 1 else 'leave'} more{told}"


def _means(runs: Runs, figure: str, method: str, sellers: str, column: str) -> Mapping[str, float]:
    """Per data set: the mean of the seeds."""
    found: dict[str, list[float]] = {}
    for (dataset, _), value in _by_seed(runs, figure, method, sellers, column).items():
        found.setdefault(dataset, []).append(value)
    return {dataset: fmean(values) for dataset, values in found.items()}


def _by_seed(runs: Runs, figure: str, method: str, sellers: str, column: str) -> Mapping[tuple[str, int], float]:
    """Per data set and seed."""
    return {
        (setting.dataset, setting.seed): runs.lines[setting][column]
        for setting in dict.fromkeys(runs.figure(figure).settings(runs.collection, runs.scale))
        if (setting.method, setting.sellers) == (method, sellers) and setting in runs.lines
    }
