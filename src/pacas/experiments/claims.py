"""What the paper's §7 claims, in our words, and what we ask besides: each judged by the runs, with what they measured.

A claim of the paper is judged in the paper's own setting and on all three data sets, unless it is about others or the
paper shows one. `verdicts.py` judges; here is why it comes out as it does.
"""

from __future__ import annotations

from pacas.experiments.claim import Claim, Judged
from pacas.experiments.panel_claims import SEVERAL
from pacas.experiments.runs.results import Runs
from pacas.experiments.runs.setting import PRIVATE, PRIVATE_RHS
from pacas.experiments.verdicts import (
    as_good_sealed,
    as_good_sealed_and_weighing,
    below,
    by_general_values,
    falls,
    far_when_poor,
    few_more_declined,
    gets_longer,
    gets_shorter,
    larger_tables_take_longer,
    linear,
    more_declined,
    more_than_a_vote,
    near_when_rich,
    never_worse,
    rises,
    slower_than_private,
    trade,
    trend,
)
from pacas.experiments.weighing_claims import NEVER_WORSE, TARGETS

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "With little money, repairs lie far from the truth; with more, nearer",
        "distance",
        far_when_poor,
        "A poor client can pay for general values only, which say less and cost less.",
    ),
    Claim(
        "Above B = 0.6 about 70 % of the repairs lie in the nearest quarter, at 0.9 about 85 %",
        "distance",
        near_when_rich,
        "Once the policy, not the money, decides what is sold, more money brings no nearer values: where groups are "
        "small a request is refused below some level whatever is paid. By refine nearly all repairs are ground.",
    ),
    Claim(
        "More general values in the repaired table go with a larger repair error",
        "general",
        by_general_values("error", rises),
        "More errors at the same share of the cost: more classes are written over by a general value.",
    ),
    Claim(
        "More general values go with shorter runs",
        "general",
        by_general_values("cpu_seconds", gets_shorter),
        "The paper's time is spent on pricing, and refused requests spare it. A quote of ours costs microseconds; "
        "time follows the number of classes, which grows with the errors that make the general values.",
    ),
    Claim(
        "The repair error falls with |S|",
        "support",
        trend("support", "relative_error", falls),
        "More neighbours show more values, so that fewer requests are refused at low levels. But a cell's "
        "neighbours are spread over the levels by turns: a step of two may add none where it counts, and adds to "
        "the price of all. And where few neighbours mean that a class is refused and left alone, the paper's repair "
        "does less harm.",
    ),
    Claim(
        "Time grows linearly with |S|",
        "support",
        linear("support", "cpu_seconds"),
        "No quote touches all of S: it looks at the neighbours of the rows that it matched, whose number is all "
        "that grows. Building the provider does grow with |S|.",
    ),
    Claim(
        "More neighbours bring less error and cost time",
        "support",
        trade("support", error=-1, time=+1),
        "In the paper 6 % less error for 16 minutes; here minutes are fractions of a second.",
    ),
    Claim(
        "The repair error rises with k",
        "k",
        trend("k", "relative_error", rises),
        "A larger k moves sales up the hierarchy, and the paper's repair writes what was bought over the whole "
        "class. Where k is so large that nothing is sold at all, its error falls again: a refusal leaves the class "
        "alone, which does less harm than a general value. By refine it rises from k = 2 on; at k = 1 everything is "
        "sold ground, and it is the money that runs short. Where little is refused, a refusal leaves money for "
        "others, and the error of replace falls with k.",
    ),
    Claim(
        "Runs get shorter as k grows",
        "k",
        trend("k", "cpu_seconds", gets_shorter),
        "Refused classes spare a purchase, but a refusal takes as long as a quote; where k refuses few, nothing is "
        "won, and general values at lower prices may even let more classes be bought for.",
    ),
    Claim(
        "A step of k costs error and saves time",
        "k",
        trade("k", error=+1, time=-1),
        "In the paper about 7 % more error for 10 % less time.",
    ),
    Claim(
        "The repair error rises with the level l of the policy",
        "level",
        trend("level", "relative_error", rises),
        "As with k: the error of replace rises with l as long as sales become more general, and falls where "
        "requests are refused instead and classes stay as they are; where all are, it is the dirty table's. Where "
        "nearly all is sold ground, l hardly matters. By refine it rises, most above l = 2; in the paper most above "
        "3.",
    ),
    Claim(
        "Runs get shorter as l grows",
        "level",
        trend("level", "cpu_seconds", gets_shorter),
        "Fewer sales, less to record and to count; a refusal takes as long as a quote. It shows most where policies "
        "guard whole groups.",
    ),
    Claim(
        "The repair error rises with the error rate e",
        "errors",
        trend("errors", "error", rises),
        "More classes are dirty, and all of them are written over. Large classes, which cost most, are dirty from "
        "the start, so that the same share of the cost pays for more of the others, and the error may fall again. "
        "Divided by the dirty table's error it falls throughout. By refine it stays near 0.",
    ),
    Claim(
        "Runs get longer as e grows",
        "errors",
        trend("errors", "cpu_seconds", gets_longer),
        "Each dirty class is quoted and bought.",
    ),
    Claim(
        "Time grows linearly with e",
        "errors",
        linear("errors", "cpu_seconds"),
        "It follows the dirty classes, and their number grows more slowly than the errors: a class with two errors "
        "is one class. Reading the table takes the same time whatever e is.",
    ),
    Claim(
        "The repair error falls with the budget B",
        "budget",
        trend("budget", "relative_error", falls),
        "It does where money brings ground values. Where it brings general ones, because more is not affordable yet "
        "or because the policy sells nothing finer, the paper's repair writes them over the right cells of large "
        "classes, and its error stays above the dirty table's. By refine it falls.",
    ),
    Claim(
        "Runs get longer as B grows",
        "budget",
        trend("budget", "cpu_seconds", gets_longer),
        "More purchases are made, and finer ones, until all that is for sale is affordable; from there on the same "
        "work is done, and the time is as noise has it.",
    ),
    Claim(
        "A step of B saves error and costs time",
        "budget",
        trade("budget", error=-1, time=+1),
        "In the paper 14 % less error for 7 % more time.",
    ),
    Claim(
        "SafeClean's repairs do not make a table worse",
        "budget",
        never_worse,
        "The paper does not show the dirty table's error. General values written over whole classes take right "
        "cells away; the client's own evidence (refine) brings them back.",
        in_paper=False,
    ),
    Claim(
        "SafeClean's repair error is at least 41 % below that of PrivateClean with Greedy-Repair",
        "baselines",
        below(PRIVATE),
        "With half of all cells randomized, left sides too, few tuples meet those they belong to, and Greedy-Repair "
        "makes strangers agree.",
    ),
    Claim(
        "It is so, too, if PrivateClean randomizes the right sides only",
        "baselines",
        below(PRIVATE_RHS),
        "Kinder to the baseline than the paper: groups stay whole and half of each still tells the truth, so that a "
        "majority often finds it. Only the client's own evidence stays ahead of that everywhere.",
        in_paper=False,
    ),
    Claim(
        "Buying brings more than a vote of the client's own cells would",
        "baselines",
        more_than_a_vote,
        "A majority vote asks nobody and is hard to beat in large groups with few errors; a purchase decides where "
        "votes are tied or wrong. Where a policy leaves classes unsold, the vote repairs them, too, and may win. "
        "The paper's repair loses to the vote wherever it writes general values.",
        in_paper=False,
    ),
    Claim(
        "SafeClean takes longer than PrivateClean",
        "privateclean",
        slower_than_private,
        "In the paper pricing runs queries over neighbours, and is slower by far. Ours prices from counts; "
        "PrivateClean has all cells to randomize, and more to repair, because of the noise. Which takes longer "
        "depends on the table.",
    ),
    Claim(
        "(X,Y,L)-anonymity declines more requests than (X,Y)-anonymity",
        "declined",
        more_declined,
        "k values at level l are at least k values at level 0 too, but not the other way round.",
    ),
    Claim(
        "With sealed quotes the same client leaves at most 1.1 times the error, or less than 1 % of what there was",
        "quotes",
        as_good_sealed,
        "A class that is kept back is sold at a general value, which the client's own evidence (refine) narrows to the "
        "right one, but where its cells are tied: on Trials and Discharges one class of two cells is left wrong that "
        "the paper's quotes, in most runs, sell finer. With less money sealed quotes leave less error: what is kept "
        "back costs less, and leaves more for others. The paper's repair writes the general value over the class, and "
        "so loses more where more is kept back.",
        in_paper=False,
    ),
    Claim(
        "With sealed quotes the client that weighs leaves at most 1.1 times the error",
        "sealed",
        as_good_sealed_and_weighing,
        "What is kept back is left to its own evidence, and to general values. The paper's client loses more on so few "
        "rows where a family holds too few values to hide one: on Food what is kept back of addresses is then sold at "
        "no level, which pacas hierarchy balance would mend.",
        in_paper=False,
    ),
    Claim(
        "Before any sale, sealed quotes decline at most twice what the paper's do at level 0",
        "quotes",
        few_more_declined,
        "Of every X-group one class is kept back whatever its values, where the paper's are refused only if the rest "
        "of their group shows too few. Where groups are small, both must refuse; Food's are few and large, and the "
        "paper's quotes refuse next to nothing there.",
        in_paper=False,
    ),
    Claim(
        "Larger tables take longer",
        "modules",
        larger_tables_take_longer,
        "More rows, more classes; but how many rows share a class, and how many X-groups a class touches, counts as "
        "much.",
    ),
    Claim(
        "Time grows at most linearly with the rows",
        "rows",
        linear("rows", "cpu_seconds", at_most=True, everywhere=False),
        "No step is quadratic in rows; the number of classes, which purchases follow, grows more slowly than the rows.",
        in_paper=False,
    ),
    *NEVER_WORSE,
    *TARGETS,
    *SEVERAL,
)


def judge_all(runs: Runs) -> tuple[Judged, ...]:
    """Judge every claim by the runs; one whose figure was not run is neither right nor wrong."""
    return tuple(_judged(claim, runs) for claim in CLAIMS)


def _judged(claim: Claim, runs: Runs) -> Judged:
    if not runs.is_complete(claim.figure):
        return Judged(claim.claim, claim.figure, None, "not run", claim.why, claim.in_paper)
    verdict = claim.judge(runs)
    return Judged(claim.claim, claim.figure, verdict.agrees, verdict.measured, claim.why, claim.in_paper)
