"""What the paper's §7 claims, each judged by the runs: what we measured, whether it agrees, and why.

A claim is judged on the paper's own setting, which is `replace` where X is the quasi-identifiers alone (`linked`), and
on all three data sets unless the paper shows one. What else was measured is said beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pacas.experiments.runs import Curve, Runs
from pacas.experiments.setting import (
    GUARDED,
    GUARDS,
    LINKED,
    NO_PRIVACY,
    NO_PURCHASE,
    PRIVATE,
    PRIVATE_RHS,
    REFINE,
    REPLACE,
)
from pacas.experiments.trends import exponent, falls, gets_longer, gets_shorter, number, rises, told

PAPERS: Mapping[str, Any] = {"method": REPLACE, "guard": LINKED}
HEADLINE = 0.41
"""How much lower than PrivateClean's the paper's repair error is."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds, and the numbers."""

    agrees: bool
    measured: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of §7 in our words, the figure that shows it, and how it is judged."""

    claim: str
    figure: str
    judge: Callable[[Runs], Verdict]
    why: str
    """Why ours does, or does not."""
    in_paper: bool = True
    """Does the paper say it? Some questions it should have asked are ours."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, judged; `agrees` is None where its figure was not run."""

    claim: str
    figure: str
    agrees: bool | None
    measured: str
    why: str
    in_paper: bool = True

    def as_dict(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "agrees": self.agrees,
            "figure": self.figure,
            "measured": self.measured,
            "in_paper": self.in_paper,
        }


def judge_all(runs: Runs) -> tuple[Judged, ...]:
    """All claims, those of figures that were not run among them."""
    return tuple(_judged(claim, runs) for claim in CLAIMS)


def _judged(claim: Claim, runs: Runs) -> Judged:
    if not runs.is_complete(claim.figure):
        return Judged(claim.claim, claim.figure, None, "not run", claim.why, claim.in_paper)
    verdict = claim.judge(runs)
    return Judged(claim.claim, claim.figure, verdict.agrees, verdict.measured, claim.why, claim.in_paper)


# ---- curves -----------------------------------------------------------------------------------------------------


def _curves(runs: Runs, figure: str, shows: str, **where: Any) -> dict[str, Curve]:
    """One per data set."""
    return {dataset: runs.curve(figure, shows, dataset=dataset, **where) for dataset in runs.collection.main}


def _trend(figure: str, shows: str, does: Callable[[Curve], bool]) -> Callable[[Runs], Verdict]:
    """Does it do so on all data sets, for the paper's setting? The other policy and our own repair are told, too."""

    def judge(runs: Runs) -> Verdict:
        curves = _curves(runs, figure, shows, **PAPERS)
        guarded = _curves(runs, figure, shows, method=REPLACE, guard=GUARDED)
        refined = _curves(runs, figure, shows, method=REFINE, guard=GUARDED)
        said = f"{_line(curves)}. Guarded: {_line(guarded)}; by refine {_line(refined)}"
        return Verdict(all(map(does, curves.values())), said)

    return judge


def _grows(figure: str, shows: str) -> Callable[[Runs], Verdict]:
    """Is time linear in the parameter, within a third of the power?"""

    def judge(runs: Runs) -> Verdict:
        powers = {d: exponent(curve) for d, curve in _curves(runs, figure, shows, **PAPERS).items()}
        said = ", ".join(f"{dataset} {power:.2f}" for dataset, power in powers.items())
        return Verdict(all(abs(power - 1) <= 1 / 3 for power in powers.values()), f"growth exponents {said}")

    return judge


def _line(curves: Mapping[str, Curve]) -> str:
    return "; ".join(f"{dataset} {told(curve)}" for dataset, curve in curves.items())


# ---- generalized values -----------------------------------------------------------------------------------------


def _near(runs: Runs, budgets: Iterable[float], **where: Any) -> float:
    """The share of repairs in the nearest quarter, over some budgets."""
    quarters = [runs.curve("distance", f"quarter_{n}", **where) for n in range(1, 5)]
    return fmean(quarters[0][b] / max(sum(quarter[b] for quarter in quarters), 1) for b in budgets)


def _far_when_poor(runs: Runs) -> Verdict:
    poor, rich = (1 - _near(runs, [budget], **PAPERS) for budget in (0.1, 1.0))
    return Verdict(poor > rich, f"{poor:.0%} of the repairs beyond the first quarter at B = 0.1, {rich:.0%} at 1")


def _near_when_rich(runs: Runs) -> Verdict:
    near = {budget: _near(runs, [budget], **PAPERS) for budget in (0.8, 0.9, 1.0)}
    said = ", ".join(f"{share:.0%} at B = {budget:g}" for budget, share in near.items())
    return Verdict(near[0.8] >= 0.65 and near[0.9] >= 0.8, said)


def _by_general_values(shows: str, does: Callable[[Curve], bool]) -> Callable[[Runs], Verdict]:
    def judge(runs: Runs) -> Verdict:
        general = runs.curve("general", "general", by="error_rate", **PAPERS)
        curve = runs.curve("general", shows, by="error_rate", **PAPERS)
        ordered = {general[e]: curve[e] for e in sorted(general, key=general.__getitem__)}
        return Verdict(does(ordered), f"at {told(general)} general values: {told(curve)}")

    return judge


# ---- PrivateClean -----------------------------------------------------------------------------------------------


def _below_private(runs: Runs) -> Verdict:
    """By how much SafeClean's error is lower, on each data set, at the defaults; `refine`, with the policy of D5."""
    lower = {d: 1 - e[REFINE] / e[PRIVATE] for d, e in _baselines(runs).items()}
    papers = {d: 1 - e[REPLACE] / e[PRIVATE] for d, e in _baselines(runs).items()}
    said = ", ".join(f"{d} {share:.1%} ({papers[d]:.1%} by replace)" for d, share in lower.items())
    return Verdict(all(share >= HEADLINE for share in (*lower.values(), *papers.values())), f"lower by: {said}")


def _below_private_right_sides(runs: Runs) -> Verdict:
    errors = _baselines(runs)
    lower = {d: 1 - e[REFINE] / e[PRIVATE_RHS] for d, e in errors.items() if e[PRIVATE_RHS]}
    papers = {d: 1 - e[REPLACE] / e[PRIVATE_RHS] for d, e in errors.items() if e[PRIVATE_RHS]}
    said = ", ".join(f"{d} {share:.1%} ({papers[d]:.1%} by replace)" for d, share in lower.items())
    return Verdict(all(share >= HEADLINE for share in (*lower.values(), *papers.values())), f"lower by: {said}")


def _between_bounds(runs: Runs) -> Verdict:
    errors = _baselines(runs)
    said = "; ".join(
        f"{d} nobody asked {number(e[NO_PURCHASE])}, replace {number(e[REPLACE])}, refine {number(e[REFINE])}, "
        f"everything sold {number(e[NO_PRIVACY])}"
        for d, e in errors.items()
    )
    return Verdict(all(e[REFINE] <= e[NO_PURCHASE] for e in errors.values()), f"share of the dirty error: {said}")


def _baselines(runs: Runs) -> dict[str, Curve]:
    """The share of the dirty table's error that each method leaves, per data set."""
    datasets = (*runs.collection.main, *runs.collection.others)
    return {d: runs.curve("baselines", "relative_error", dataset=d, guard=LINKED) for d in datasets}


def _slower(runs: Runs) -> Verdict:
    mine, theirs = (
        runs.curve("privateclean", "cpu_seconds", dataset=runs.collection.main[0], method=method, guard=LINKED)
        for method in (REPLACE, PRIVATE)
    )
    ratios = {e: mine[e] / theirs[e] for e in mine}
    return Verdict(all(ratio > 1 for ratio in ratios.values()), f"{told(ratios)} times PrivateClean's, over e")


# ---- the others' order ------------------------------------------------------------------------------------------


def _more_declined(runs: Runs) -> Verdict:
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


def _harms(runs: Runs) -> Verdict:
    """Where the paper's repair leaves more error than there was."""
    worst = {
        (guard, dataset): max(runs.curve("budget", "relative_error", dataset=dataset, method=m, guard=guard).values())
        for guard in GUARDS
        for dataset in runs.collection.main
        for m in (REPLACE,)
    }
    refined = max(
        max(runs.curve("budget", "relative_error", dataset=d, method=REFINE, guard=guard).values())
        for guard in GUARDS
        for d in runs.collection.main
    )
    said = ", ".join(f"{dataset} {guard} {number(share)}" for (guard, dataset), share in worst.items())
    agrees = all(share <= 1 for share in worst.values())
    return Verdict(
        agrees, f"replace leaves at worst, in dirty tables' errors: {said}; refine at most {number(refined)}"
    )


def _linear_in_rows(runs: Runs) -> Verdict:
    where = {"method": REFINE, "guard": LINKED}
    clean, built = (exponent(runs.curve("rows", column, **where)) for column in ("cpu_seconds", "cpu_provider"))
    return Verdict(clean <= 1.1 and built <= 1.1, f"growth exponents {clean:.2f} to clean, {built:.2f} to build")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "With little money, repairs lie far from the truth; with more, nearer",
        "distance",
        _far_when_poor,
        "A poor client can pay for general values only, which say less and cost less.",
    ),
    Claim(
        "Above B = 0.6 about 70 % of the repairs lie in the nearest quarter, at 0.9 about 85 %",
        "distance",
        _near_when_rich,
        "Once the policy, not the money, decides what is sold, more money brings no nearer values: where groups are "
        "small a request is refused below some level whatever is paid. By refine nearly all repairs are ground.",
    ),
    Claim(
        "More general values in the repaired table go with a larger repair error",
        "general",
        _by_general_values("error", rises),
        "More errors at the same share of the cost: more classes are written over by a general value.",
    ),
    Claim(
        "More general values go with shorter runs",
        "general",
        _by_general_values("cpu_seconds", gets_shorter),
        "The paper's time is spent on pricing, and refused requests spare it. A quote of ours costs microseconds; time "
        "follows the number of classes, which grows with the errors that make the general values.",
    ),
    Claim(
        "The repair error falls with |S|",
        "support",
        _trend("support", "relative_error", falls),
        "More neighbours show more values, so that fewer requests are refused at low levels. As a cell's neighbours "
        "are spread over the levels by turns, not every step of two adds one where it counts.",
    ),
    Claim(
        "The time of pricing grows linearly with |S|",
        "support",
        _grows("support", "cpu_seconds"),
        "No quote touches all of S: it looks at the neighbours of the rows that it matched, whose number is all that "
        "grows. Building the provider does grow with |S|.",
    ),
    Claim(
        "The repair error rises with k",
        "k",
        _trend("k", "relative_error", rises),
        "A larger k moves sales up the hierarchy, and the paper's repair writes what was bought over the whole class. "
        "Where k is so large that nothing is sold at all, its error falls again: a refusal leaves the class alone, "
        "which does less harm than a general value. By refine it rises from k = 2 on; at k = 1 everything is sold "
        "ground, and it is the money that runs short. Where little is refused, a refusal leaves money for others, and "
        "the error of replace falls with k.",
    ),
    Claim(
        "Runs get shorter as k grows",
        "k",
        _trend("k", "cpu_seconds", gets_shorter),
        "Refused classes spare a purchase, but a refusal takes as long as a quote; where k refuses few, nothing is "
        "won.",
    ),
    Claim(
        "The repair error rises with the level l of the policy, above l = 3 most",
        "level",
        _trend("level", "relative_error", rises),
        "As with k: up to the level at which sales become general, the error of replace rises; beyond it requests are "
        "refused altogether, classes stay as they are, and it falls back to what the dirty table had. By refine it "
        "rises, most above l = 2.",
    ),
    Claim(
        "Runs get shorter as l grows",
        "level",
        _trend("level", "cpu_seconds", gets_shorter),
        "Fewer sales, less to record and to count; a refusal takes as long as a quote. It shows most where policies "
        "guard whole groups.",
    ),
    Claim(
        "The repair error rises with the error rate e",
        "errors",
        _trend("errors", "error", rises),
        "More classes are dirty, and all of them are written over. Large classes, which cost most, are dirty from the "
        "start, so that the same share of the cost pays for more of the others, and the error may fall again. Divided "
        "by the dirty table's error it falls throughout. By refine it stays near 0.",
    ),
    Claim(
        "Runs get longer as e grows",
        "errors",
        _trend("errors", "cpu_seconds", gets_longer),
        "Each dirty class is quoted and bought; the number of dirty classes grows more slowly than e where groups are "
        "large.",
    ),
    Claim(
        "The repair error falls with the budget B",
        "budget",
        _trend("budget", "relative_error", falls),
        "It does where money brings ground values. Where it brings general ones, because more is not affordable yet or "
        "because the policy sells nothing finer, the paper's repair writes them over the right cells of large classes, "
        "and its error stays above the dirty table's. By refine it falls.",
    ),
    Claim(
        "Runs get longer as B grows",
        "budget",
        _trend("budget", "cpu_seconds", gets_longer),
        "More purchases are made until all that is for sale is affordable; then the time stays as it is.",
    ),
    Claim(
        "SafeClean's repairs do not make a table worse",
        "budget",
        _harms,
        "The paper does not show the dirty table's error. General values written over whole "
        "classes take right cells away; the client's own evidence (refine) brings them back.",
        in_paper=False,
    ),
    Claim(
        "SafeClean's repair error is at least 41 % below that of PrivateClean with Greedy-Repair",
        "baselines",
        _below_private,
        "With half of all cells randomized, left sides too, few tuples meet those they belong to, and Greedy-Repair "
        "makes strangers agree.",
    ),
    Claim(
        "It is so, too, if PrivateClean randomizes the right sides only",
        "baselines",
        _below_private_right_sides,
        "Kinder to the baseline than the paper: groups stay whole and half of each still tells the truth, so that a "
        "majority often finds it. Only the client's own evidence stays ahead of that everywhere.",
        in_paper=False,
    ),
    Claim(
        "Buying brings more than a vote of the client's own cells would",
        "baselines",
        _between_bounds,
        "A majority vote asks nobody and is hard to beat in large groups; a purchase decides where "
        "votes are tied or wrong. The paper's repair loses to the vote wherever it writes general values.",
        in_paper=False,
    ),
    Claim(
        "SafeClean takes longer than PrivateClean",
        "privateclean",
        _slower,
        "In the paper pricing runs queries over neighbours. Ours prices from counts, while PrivateClean has all cells "
        "to randomize and finds many more classes, made up by the noise.",
    ),
    Claim(
        "(X,Y,L)-anonymity declines more requests than (X,Y)-anonymity",
        "declined",
        _more_declined,
        "k values at level l are at least k values at level 0 too, but not the other way round.",
    ),
    Claim(
        "Time grows linearly with the rows",
        "rows",
        _linear_in_rows,
        "No step is quadratic in rows; the number of classes, which purchases follow, grows more slowly than the rows.",
        in_paper=False,
    ),
)
