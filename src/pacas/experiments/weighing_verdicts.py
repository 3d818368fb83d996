"""How the runs speak for or against weighing: never worse than the dirty table, than a free vote, than `refine`.

All errors are shares of the dirty table's. Methods are compared on the same dirty tables, at the same budget; how much
of it is really spent is another claim. Groups that are overwritten whole violate nothing, and are seen by no client
that looks at dependencies alone: there, the error of all other cells is judged (`seen_error`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from pacas.experiments.runs.figures import TIGHT
from pacas.experiments.runs.results import Line, Runs
from pacas.experiments.runs.setting import NO_PURCHASE, REFINE, WEIGH, Setting
from pacas.experiments.verdicts import Judge, Verdict, number

ON_AVERAGE, WORST_SEED = 1.0, 1.02
"""The most that weighing may leave, in dirty tables' errors: as the mean of the seeds, and in the worst of them."""
MORE = 1.02
"""How many times another method's error weighing may leave."""
NOTHING = 1e-9
"""What floats may be off."""


class Case(NamedTuple):
    """Runs that differ in their seed and method alone."""

    dataset: str
    side: str
    error_rate: float
    random_rate: float
    budget: float | None
    """None of a method that buys nothing."""

    def __str__(self) -> str:
        said = [self.dataset, self.side, f"e = {self.error_rate:.3g}"]
        said += [f"random {self.random_rate:g}"] if self.random_rate else []
        said += [] if self.budget is None else [f"B = {self.budget:g}"]
        return " ".join(said)


Found = Mapping[Case, Sequence[float]]
"""Per case: what was measured with each seed."""


def found(runs: Runs, figure: str, method: str, column: str = "relative_error") -> Found:
    """What a figure has of a method."""
    of_each: dict[Case, list[float]] = {}
    for setting, line in _lines(runs, figure):
        if setting.method == method and line[column] is not None:
            budget = setting.budget if setting.buys else None
            case = Case(setting.dataset, setting.side, setting.error_rate, setting.random_rate, budget)
            of_each.setdefault(case, []).append(line[column])
    return of_each


def _lines(runs: Runs, figure: str) -> Iterator[tuple[Setting, Line]]:
    yield from ((setting, runs.lines[setting]) for setting in runs.settings(figure) if setting in runs.lines)


# ---- never worse ------------------------------------------------------------------------------------------------


def never_above_dirty(figure: str) -> Judge:
    """Is the mean of the seeds never above the dirty table's error, and none of them by more than 2 %?"""

    def judge(runs: Runs) -> Verdict:
        left = found(runs, figure, WEIGH)
        mean, worst = (max(left, key=lambda case: over(left[case])) for over in (fmean, max))
        said = f"at most {number(fmean(left[mean]))} ({mean}); in the worst run {number(max(left[worst]))} ({worst})"
        above = [
            f"{number(fmean(errors))}, in the worst run {number(max(errors))} ({case})"
            for case, errors in left.items()
            if fmean(errors) > ON_AVERAGE + NOTHING or max(errors) > WORST_SEED
        ]
        return Verdict(not above, said + _breaking(above))

    return judge


def never_above(figure: str, other: str) -> Judge:
    """Does it never leave more than 2 % above what another method does, at the same budget, on average of the seeds?"""

    def judge(runs: Runs) -> Verdict:
        left, theirs = found(runs, figure, WEIGH), found(runs, figure, other)
        pairs = {case: (fmean(left[case]), fmean(theirs[_same(case, theirs)])) for case in left}
        above = [
            f"{number(mine)} against {number(of_other)} ({case})"
            for case, (mine, of_other) in pairs.items()
            if mine > MORE * of_other + NOTHING
        ]
        worst = max(pairs, key=lambda case: pairs[case][0] - MORE * pairs[case][1])
        mine, of_other = pairs[worst]
        said = f"above in {len(above):,} of {len(pairs):,} cases; nearest to it, or most: {number(mine)} against "
        return Verdict(not above, f"{said}{number(of_other)} ({worst})" + _breaking(above))

    return judge


def _breaking(cases: Sequence[str]) -> str:
    """All cases in which a claim does not hold."""
    return "; **it does not hold at** " + "; ".join(cases) if cases else ""


def share_of_allowed(mine: Sequence[float], *others: Sequence[float]) -> float:
    """What weighing leaves, as a share of the most that it may: of the dirty table's error, and of other methods'.

    >>> [round(share_of_allowed(mine, [0.4, 0.4]), 3) for mine in ([0.1, 0.3], [0.0], [0.408])]
    [0.49, 0.0, 1.0]
    >>> share_of_allowed([0.1], [0.0])
    inf
    """
    mean, least = fmean(mine), min(map(fmean, others))
    if mean <= NOTHING:
        return 0.0
    of_others = mean / (MORE * least) if least > 0 else float("inf")
    return max(mean / ON_AVERAGE, max(mine) / WORST_SEED, of_others)


def _same(case: Case, theirs: Found) -> Case:
    """The case of another method, who may buy nothing."""
    return case if case in theirs else case._replace(budget=None)


# ---- targets ----------------------------------------------------------------------------------------------------


def at_a_tenth(
    figure: str, *, on_average: float, on_each: float = float("inf"), side: str | None = None, seen: bool = False
) -> Judge:
    """With a tenth of the full cost: is so much left at most, on average over the data sets, and on each?"""
    return _judged_at(TIGHT, figure, side, "seen_error" if seen else "relative_error", on_average, on_each)


def with_no_money(figure: str) -> Judge:
    """With no money at all: is the table no worse on any data set?"""
    return _judged_at(0.0, figure, None, "relative_error", ON_AVERAGE, ON_AVERAGE)


def _judged_at(budget: float, figure: str, side: str | None, column: str, on_average: float, on_each: float) -> Judge:
    def judge(runs: Runs) -> Verdict:
        left = found(runs, figure, WEIGH, column)
        cases = {case: fmean(left[case]) for case in left if case.budget == budget and side in (None, case.side)}
        mean, most = fmean(cases.values()), max(cases.values())
        said = ", ".join(f"{case.dataset} {number(share)}" for case, share in cases.items())
        agrees = mean <= on_average + NOTHING and most <= on_each + NOTHING
        return Verdict(agrees, f"{number(mean)} on average: {said}")

    return judge


def no_worse_than_a_vote_with_no_money(runs: Runs) -> Verdict:
    """On right sides, with no money: is no more left than by a vote, on each data set?"""
    left, vote = found(runs, "right", WEIGH), found(runs, "right", NO_PURCHASE)
    pairs = {c.dataset: (fmean(left[c]), fmean(vote[_same(c, vote)])) for c in left if c.budget == 0}
    said = ", ".join(f"{dataset} {number(mine)} against {number(theirs)}" for dataset, (mine, theirs) in pairs.items())
    return Verdict(all(mine <= theirs + NOTHING for mine, theirs in pairs.values()), said)


def a_third_of_the_money(runs: Runs) -> Verdict:
    """On right sides, at a tenth of the full cost: is at most a third of refine's money spent, for a smaller error?"""
    money, theirs = (_at_a_tenth(runs, method, "spent") for method in (WEIGH, REFINE))
    left, by_refine = (_at_a_tenth(runs, method, "relative_error") for method in (WEIGH, REFINE))
    spent = {dataset: money[dataset] / theirs[dataset] for dataset in money if theirs[dataset]}
    less = all(left[dataset] < by_refine[dataset] for dataset in left)
    said = ", ".join(f"{dataset} {number(share)}" for dataset, share in spent.items())
    which = "a smaller" if less else "not always a smaller"
    return Verdict(fmean(spent.values()) <= 1 / 3 and less, f"of refine's money: {said}; {which} error each")


def _at_a_tenth(runs: Runs, method: str, column: str) -> dict[str, float]:
    return {c.dataset: fmean(n) for c, n in found(runs, "right", method, column).items() if c.budget == TIGHT}
