"""What is asked of buying from several providers, beside what one faultless, complete provider does."""

from __future__ import annotations

from pacas.experiments.claim import Claim
from pacas.experiments.panel_verdicts import left_by_a_panel, money_of_a_panel, no_worse_than_the_best
from pacas.experiments.runs.setting import REFINE, WEIGH

_PANEL_MOST = {"panel": 0.05, "panel_stale": 0.16}
"""Of the dirty error, what three providers may leave together."""
_LEAVES = (
    "A wrong answer stands out where another source contradicts it, the client's own majority among them; what nobody "
    "sells stays, or goes with the majority where that has proved right."
)
_BUT = (
    "A single run may leave more: where a wrong answer is by chance the wrong value that holds the majority, and one "
    "other source contradicts both, it is two to one against the truth; who buys from that source alone believes it."
)
_COSTS = (
    "One answer settles most classes, and a coarse one suffices where it tells the values apart that stand in the "
    "class; another is bought while the belief is weak. One complete provider is bought from by the same strategy: the "
    "paper's asks it about every class at the finest level, a client that weighs as coarsely as it asks three: where "
    "that is little, three may cost more."
)
SEVERAL = tuple(
    claim
    for figure, most in _PANEL_MOST.items()
    for method in (REFINE, WEIGH)
    for claim in (
        Claim(
            f"Three providers that know parts leave at most {most:g} of the dirty error ({method})",
            figure,
            left_by_a_panel(figure, method, most),
            _LEAVES,
            in_paper=False,
        ),
        Claim(
            f"They cost at most 0.9 of what one faultless, complete provider does ({method})",
            figure,
            money_of_a_panel(figure, method, 0.9),
            _COSTS,
            in_paper=False,
        ),
        Claim(
            f"By the mean of the seeds they never leave more than the best of them alone ({method})",
            figure,
            no_worse_than_the_best(figure, method),
            f"{_LEAVES} {_BUT}" if (figure, method) == ("panel_stale", WEIGH) else _LEAVES,
            in_paper=False,
        ),
    )
)
