"""How the runs speak for or against a claim: what is compared, and what was measured, in words.

The paper's own setting is `replace` where X is the quasi-identifiers alone (`linked`). Errors are means over the seeds.
Times are the least of them: whatever else the machine did made the others longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import fmean
from typing import Any

from pacas.experiments.runs.results import Curve, Runs
from pacas.experiments.runs.setting import (
    GUARDED,
    GUARDS,
    LINKED,
    MIXED,
    NO_PRIVACY,
    NO_PURCHASE,
    PRIVATE,
    QUOTES,
    REFINE,
    REPLACE,
    RIGHT,
    WEIGH,
    Setting,
)

SLIGHT = 0.02
"""A change by less than this share of the largest value is none."""
NOISE = 0.1
"""A time that changes by less than this share has not changed."""


def rises(curve: Curve) -> bool:
    """Does it end higher than it begins, and never fall by more than slightly on the way?

    >>> rises({1: 10.0, 2: 15.0, 3: 14.9}), rises({1: 10.0, 2: 20.0, 3: 15.0}), rises({1: 10.0, 2: 10.1})
    (True, False, False)
    """
    values = list(curve.values())
    slight = SLIGHT * max(map(abs, values), default=0.0)
    never_falls = all(b >= a - slight for a, b in pairwise(values))
    return len(values) > 1 and never_falls and values[-1] > values[0] + slight


def falls(curve: Curve) -> bool:
    """Does it end lower than it begins, and never rise by more than slightly on the way?

    >>> falls({1: 3.0, 2: 2.0}), falls({1: 2.0, 2: 3.0}), falls({})
    (True, False, False)
    """
    return rises({x: -value for x, value in curve.items()})


def gets_longer(times: Curve) -> bool:
    """Is the last time longer than the first? Those between are too noisy to be asked.

    >>> gets_longer({1: 1.0, 2: 0.9, 3: 1.2}), gets_longer({1: 1.0, 2: 1.05})
    (True, False)
    """
    seconds = list(times.values())
    return len(seconds) > 1 and seconds[-1] > (1 + NOISE) * seconds[0]


def gets_shorter(times: Curve) -> bool:
    """Is the last time shorter than the first?"""
    return gets_longer(dict(reversed(list(times.items()))))


def exponent(curve: Curve) -> float:
    """By which power of x a curve grows, from its first to its last point: 1 is linear, 0 is not at all.

    >>> round(exponent({10: 5.0, 40: 10.0}), 3)
    0.5
    """
    points = [(x, y) for x, y in curve.items() if x > 0 and y > 0]
    if len(points) < 2:
        return 0.0
    (x, y), (last_x, last_y) = points[0], points[-1]
    return log(last_y / y) / log(last_x / x)


def told(curve: Curve) -> str:
    """A curve's values, one after the other.

    >>> told({1: 0.12345, 2: 1234.5})
    '0.123, 1,234'
    """
    return ", ".join(map(number, curve.values()))


def number(value: float) -> str:
    """Three digits, or all before the point."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):g}"


PAPERS: Mapping[str, Any] = {"method": REPLACE, "guard": LINKED}
HEADLINE = 0.41
"""How much lower than PrivateClean's the paper's repair error is."""
DEARER = 1.1
"""How many times the paper's repair error sealed quotes may leave."""
NEXT_TO_NOTHING = 0.01
"""A share of the dirty table's error below which ratios say nothing: it may be that of one class."""
LINEAR = (2 / 3, 4 / 3)
"""The growth exponents that still count as linear."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds, and the numbers."""

    agrees: bool
    measured: str


Judge = Callable[[Runs], Verdict]


# ---- curves -----------------------------------------------------------------------------------------------------


def trend(figure: str, shows: str, does: Callable[[Curve], bool]) -> Judge:
    """Does it do so on all data sets, in the paper's setting? The other policy and our own repair are told, too."""

    def judge(runs: Runs) -> Verdict:
        curves = _curves(runs, figure, shows, **PAPERS)
        guarded = _curves(runs, figure, shows, method=REPLACE, guard=GUARDED)
        refined = _curves(runs, figure, shows, method=REFINE, guard=GUARDED)
        said = f"{_line(curves)}. Guarded: {_line(guarded)}; by refine {_line(refined)}"
        return Verdict(all(map(does, curves.values())), said)

    return judge


def linear(figure: str, shows: str, *, at_most: bool = False, everywhere: bool = True) -> Judge:
    """Is it linear in what is varied, or at most so; on all data sets, or on the first?"""

    def judge(runs: Runs) -> Verdict:
        curves = _curves(runs, figure, shows, **PAPERS)
        powers = {d: exponent(curve) for d, curve in curves.items() if everywhere or d == runs.collection.main[0]}
        least, most = (-1.0, 1.1) if at_most else LINEAR
        said = ", ".join(f"{dataset} {power:.2f}" for dataset, power in powers.items())
        return Verdict(all(least <= power <= most for power in powers.values()), f"growth exponents {said}")

    return judge


def trade(figure: str, *, error: int, time: int) -> Judge:
    """Does a step of a parameter, on average, move error and time in these directions (+1, −1)?"""

    def judge(runs: Runs) -> Verdict:
        moves = {
            shows: fmean(_per_step(curve) for curve in _curves(runs, figure, shows, **PAPERS).values())
            for shows in ("relative_error", "cpu_seconds")
        }
        agrees = moves["relative_error"] * error > 0 and moves["cpu_seconds"] * time > 0
        said = f"{moves['relative_error']:+.0%} error and {moves['cpu_seconds']:+.0%} time a step, over all data sets"
        return Verdict(agrees, said)

    return judge


def _per_step(curve: Curve) -> float:
    """The mean change from one value to the next, as a share of the former."""
    return fmean(b / a - 1 for a, b in pairwise(curve.values()) if a)


def _curves(runs: Runs, figure: str, shows: str, **where: Any) -> dict[str, Curve]:
    """A curve per data set."""
    found = {d: curve_of(runs, figure, shows, dataset=d, **where) for d in runs.collection.main}
    return {dataset: curve for dataset, curve in found.items() if curve}


def curve_of(runs: Runs, figure: str, shows: str, **where: Any) -> Curve:
    return runs.curve(figure, shows, over_seeds=min if shows.startswith("cpu_") else fmean, **where)


def _line(curves: Mapping[str, Curve]) -> str:
    return "; ".join(f"{dataset} {told(curve)}" for dataset, curve in curves.items())


# ---- generalized values -----------------------------------------------------------------------------------------


def far_when_poor(runs: Runs) -> Verdict:
    poor, rich = (1 - _near(runs, budget) for budget in (0.1, 1.0))
    return Verdict(poor > rich, f"{poor:.0%} of the repairs beyond the first quarter at B = 0.1, {rich:.0%} at 1")


def near_when_rich(runs: Runs) -> Verdict:
    near = {budget: _near(runs, budget) for budget in (0.8, 0.9, 1.0)}
    said = ", ".join(f"{share:.0%} at B = {budget:g}" for budget, share in near.items())
    return Verdict(near[0.8] >= 0.65 and near[0.9] >= 0.8, said)


def _near(runs: Runs, budget: float) -> float:
    """The share of repairs in the nearest quarter."""
    quarters = [runs.curve("distance", f"quarter_{n}", **PAPERS)[budget] for n in range(1, 5)]
    return quarters[0] / max(sum(quarters), 1)


def by_general_values(shows: str, does: Callable[[Curve], bool]) -> Judge:
    """Does it do so as general values become more, which they do with the errors?"""

    def judge(runs: Runs) -> Verdict:
        general = runs.curve("general", "general", by="error_rate", **PAPERS)
        curve = curve_of(runs, "general", shows, by="error_rate", **PAPERS)
        ordered = {e: curve[e] for e in sorted(general, key=general.__getitem__)}
        return Verdict(does(ordered), f"at {told(general)} general values: {told(curve)}")

    return judge


# ---- beside others ----------------------------------------------------------------------------------------------


def below(theirs: str) -> Judge:
    """Is SafeClean's error as much lower as the paper's headline says, by both repairs, on every data set?"""

    def judge(runs: Runs) -> Verdict:
        lower = {
            dataset: tuple(1 - e[mine] / e[theirs] if e[theirs] else float("-inf") for mine in (REFINE, REPLACE))
            for dataset, e in _left(runs, LINKED).items()
        }
        said = ", ".join(f"{d} {refine:.1%} ({replace:.1%} by replace)" for d, (refine, replace) in lower.items())
        return Verdict(all(min(both) >= HEADLINE for both in lower.values()), f"lower by: {said}")

    return judge


def more_than_a_vote(runs: Runs) -> Verdict:
    """Does refine leave less than a majority vote does, under either policy?"""
    linked, guarded = _left(runs, LINKED), _left(runs, GUARDED)
    said = "; ".join(
        f"{d} vote {number(e[NO_PURCHASE])}, replace {number(e[REPLACE])}, refine {number(e[REFINE])} "
        f"(guarded {number(guarded[d][REFINE])}), everything sold {number(e[NO_PRIVACY])}"
        for d, e in linked.items()
    )
    less = all(max(e[REFINE], guarded[d][REFINE]) < e[NO_PURCHASE] for d, e in linked.items())
    return Verdict(less, f"share of the dirty error: {said}")


def _left(runs: Runs, guard: str) -> dict[str, Curve]:
    """The share of the dirty table's error that each method leaves, per data set."""
    return {d: runs.curve("baselines", "relative_error", dataset=d, guard=guard) for d in runs.collection.all}


def slower_than_private(runs: Runs) -> Verdict:
    ratios: dict[str, Curve] = {}
    for dataset in runs.collection.main:
        mine, theirs = (
            curve_of(runs, "privateclean", "cpu_seconds", dataset=dataset, method=method, guard=LINKED)
            for method in (REPLACE, PRIVATE)
        )
        ratios[dataset] = {e: mine[e] / theirs[e] for e in mine}
    agrees = all(ratio > 1 for curve in ratios.values() for ratio in curve.values())
    return Verdict(agrees, f"in PrivateClean's times, over e: {_line(ratios)}")


def as_good_sealed(runs: Runs) -> Verdict:
    """At the default budget, does refine leave at most 1.1 × the error on every data set, or next to nothing?"""
    left = {
        method: {d: tuple(_quoted(runs, "relative_error", d, method=method)) for d in runs.collection.all}
        for method in (REFINE, REPLACE)
    }
    said = "; ".join(
        f"{method}: " + ", ".join(f"{d} {number(paper)} and {number(sealed)}" for d, (paper, sealed) in of.items())
        for method, of in left.items()
    )
    close = all(sealed <= max(DEARER * paper, NEXT_TO_NOTHING) for paper, sealed in left[REFINE].values())
    return Verdict(close, f"share of the dirty error left, with the paper's quotes and with sealed ones, by {said}")


def as_good_sealed_and_weighing(runs: Runs) -> Verdict:
    """At the default budget, does weighing leave at most 1.1 × the error on every data set, on either side?"""
    left = {
        (d, side): tuple(_quoted(runs, "relative_error", d, "sealed", method=WEIGH, side=side))
        for side in (RIGHT, MIXED)
        for d in runs.collection.all
    }
    said = ", ".join(f"{d} {side} {number(paper)} and {number(sealed)}" for (d, side), (paper, sealed) in left.items())
    close = all(sealed <= DEARER * paper for paper, sealed in left.values())
    return Verdict(close, f"share of the dirty error left, with the paper's quotes and with sealed ones: {said}")


def few_more_declined(runs: Runs) -> Verdict:
    """Before any sale, are at most twice as many classes declined at level 0 with sealed quotes?"""
    shares = {d: tuple(_quoted(runs, "declined_0", d, method=REFINE)) for d in runs.collection.all}
    said = ", ".join(f"{d} {paper:.1%} and {sealed:.1%}" for d, (paper, sealed) in shares.items())
    few = all(sealed <= 2 * paper for paper, sealed in shares.values())
    return Verdict(few, f"of the classes, with the paper's quotes and with sealed ones: {said}")


def _quoted(runs: Runs, shows: str, dataset: str, figure: str = "quotes", **where: Any) -> Iterator[float]:
    """At the default budget, with the paper's quotes and with sealed ones."""
    default = Setting(dataset=dataset).budget
    for quotes in QUOTES:
        yield runs.curve(figure, shows, dataset=dataset, quotes=quotes, **where)[default]


# ---- policies, harm, size ---------------------------------------------------------------------------------------


def more_declined(runs: Runs) -> Verdict:
    shares = {
        (guard, level): [
            fmean(runs.curve("declined", f"declined_{at}", dataset=d, guard=guard, level=level).values())
            for d in runs.collection.main
            for at in range(3)
        ]
        for guard in GUARDS
        for level in (0, 2)
    }
    said = "; ".join(
        f"{guard}: {fmean(shares[guard, 0]):.1%} by (X,Y), {fmean(shares[guard, 2]):.1%} by (X,Y,L)" for guard in GUARDS
    )
    more = all(b >= a for guard in GUARDS for a, b in zip(shares[guard, 0], shares[guard, 2], strict=True))
    return Verdict(more, f"of the requests at levels 0 to 2, {said}")


def never_worse(runs: Runs) -> Verdict:
    """Does the paper's repair ever leave more error than there was, at any budget?"""
    worst = {
        (method, guard, d): max(
            runs.curve("budget", "relative_error", dataset=d, method=method, guard=guard).values(), default=0.0
        )
        for method in (REPLACE, REFINE)
        for guard in GUARDS
        for d in runs.collection.main
    }
    replaced = {(guard, d): share for (method, guard, d), share in worst.items() if method == REPLACE}
    refined = max(share for (method, _, _), share in worst.items() if method == REFINE)
    said = ", ".join(f"{d} {guard} {number(share)}" for (guard, d), share in replaced.items())
    measured = f"replace leaves at worst, in dirty tables' errors: {said}; refine at most {number(refined)}"
    return Verdict(all(share <= 1 for share in replaced.values()), measured)


def larger_tables_take_longer(runs: Runs) -> Verdict:
    """Does the smallest of the whole tables take least time?"""
    size = runs.curve("modules", "actual_rows", **PAPERS)
    times = curve_of(runs, "modules", "cpu_seconds", **PAPERS)
    said = ", ".join(f"{d} ({size[d]:,.0f} rows) {number(times[d])} s" for d in times)
    return Verdict(min(times, key=times.__getitem__) == min(size, key=size.__getitem__), said)
