"""What is asked of a client that weighs: never worse than its input, a vote or the paper's, and how much better."""

from __future__ import annotations

from pacas.experiments.claim import Claim
from pacas.experiments.runs.figures import GROUPS
from pacas.experiments.runs.setting import LEFT, MIXED, NO_PURCHASE, REFINE
from pacas.experiments.weighing_verdicts import (
    a_third_of_the_money,
    at_a_tenth,
    never_above,
    never_above_dirty,
    no_worse_than_a_vote_with_no_money,
    with_no_money,
)

NEVER_WORSE: tuple[Claim, ...] = tuple(
    Claim(f"{claim}: {figure}", figure, judge, why, in_paper=False)
    for figure in GROUPS["weighing"]
    for claim, judge, why in (
        (
            "Weighing never leaves more error than there was",
            never_above_dirty(figure),
            "Nothing is written that is expected to be further from the truth than what stands there.",
        ),
        (
            "Weighing never leaves more than 2 % more error than a free vote",
            never_above(figure, NO_PURCHASE),
            "A vote is one of the pieces of evidence that are weighed; it is followed where nothing speaks against it.",
        ),
        (
            "At the same budget, weighing never leaves more than 2 % more error than refine",
            never_above(figure, REFINE),
            "It asks where a credit is expected to remove most error, and what it need not ask it repairs for free.",
        ),
    )
)
"""What must hold whatever the errors are."""

TARGETS: tuple[Claim, ...] = tuple(
    Claim(claim, figure, judge, why, in_paper=False)
    for claim, figure, judge, why in (
        (
            "With a tenth of the full cost, weighing leaves at most 1 % of the error of right sides",
            "right",
            at_a_tenth("right", on_average=0.01),
            "Most of it is repaired for free; what is tied is bought.",
        ),
        (
            "It spends at most a third of what refine does, on average, for a smaller error",
            "right",
            a_third_of_the_money,
            "What own evidence settles is not asked for.",
        ),
        (
            "With no money, weighing leaves no more error of right sides than a vote",
            "right",
            no_worse_than_a_vote_with_no_money,
            "See above: a vote is part of the evidence.",
        ),
        (
            "With a tenth of the full cost, weighing leaves at most 35 % of the error of left sides, nowhere over 75 %",
            "left",
            at_a_tenth("left", side=LEFT, on_average=0.35, on_each=0.75),
            "A misplaced row gets its left side back where its group can be told; where many would do, it is left.",
        ),
        (
            "With a tenth of the full cost, weighing leaves at most 35 % of the error where both sides are wrong",
            "left",
            at_a_tenth("left", side=MIXED, on_average=0.35),
            "Both explanations are weighed for each row, and nothing on sale tells them apart. What is less sure than "
            "`careful` asks is left, where a client that is less careful would come nearer to the truth on average.",
        ),
        (
            "With no money, weighing makes no table worse whose left sides are wrong",
            "left",
            with_no_money("left"),
            "What is doubtful is left as it is.",
        ),
        (
            "With a tenth of the full cost, weighing leaves at most 5 % of the error of overwritten groups that shows",
            "overwritten",
            at_a_tenth("overwritten", on_average=0.05, seen=True),
            "One row of a group says which part of it was overwritten, and what groups that are sure have tells of "
            "others. What is overwritten whole is not counted: no dependency sees it.",
        ),
    )
)
"""What is asked of weighing with little money, and with none."""
