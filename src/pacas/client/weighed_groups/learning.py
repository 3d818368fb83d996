"""What a dependency's groups teach: how often, and how, its cells go wrong, and what other groups may hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pacas.client.weighed_groups.belief import TELLS, Belief
from pacas.client.weighed_groups.rates import Rates, chance_of_mixtures

TOLD_APART = 5
"""In groups of so many rows a mixture is told from single errors."""


class Learning:
    """Of the groups of one dependency, by what is believed of them."""

    def __init__(self, belief: Belief) -> None:
        self._belief = belief
        self._settled: tuple[Rates, Rates] | None = None
        """The rates before anything was bought, and what would have been learnt then."""

    def learn(self, *, blocks: bool) -> None:
        """The prior, and rates, from what is believed now; how often there are blocks only if so asked."""
        belief = self._belief
        learnt = self._learnt(blocks=blocks)
        if self._settled is not None:
            rates, before = self._settled
            learnt = replace(rates.moved(before, learnt), lean=belief.rates.lean)
        belief.expect_what_is_believed()
        belief.rates = learnt

    def settle(self) -> None:
        """From now on rates move as far as what is learnt does: rounds end before nothing moves any more."""
        self._settled = self._belief.rates, self._learnt(blocks=True)

    def _learnt(self, *, blocks: bool) -> Rates:
        belief = self._belief
        several = (belief.side.size >= 2) & (belief.sure > 0.5)
        use = several[belief.pair_group] & (belief.pair_value != belief.column.null)
        if not use.any():
            return belief.rates
        wrong = belief.pair_value != belief.likeliest[belief.pair_group]
        alone = 1 - belief.pair_block()
        shown = (belief.pair_count * wrong * alone)[use]  # whoever made them
        own = (belief.pair_stays * wrong * alone)[use]
        rate = (float(own.sum()) + 1) / (float(belief.pair_stays[use].sum()) + 50)
        unlike = (float(shown.sum()) + 1) / (float(belief.pair_count[use].sum()) + 50)
        overwritten, mixed = belief.rates.overwritten, belief.rates.mixed
        if blocks:
            found = belief.block.sum(axis=1)[several]
            overwritten = float(np.clip((found.sum() + 0.2) / (len(found) + 20), 1e-4, 0.6))
            mixed = self._mixed()
        return Rates(
            float(np.clip(rate, 1e-4, 0.5)),
            float(np.clip(unlike, 1e-4, 0.5)),
            overwritten,
            belief.confusion(use, shown),
            belief.confusion(use, own),
            belief.rates.lean,
            mixed,
        )

    def _mixed(self) -> float:
        """How likely the dependency does not hold: most of its groups are mixed, or answers say that both camps are."""
        belief, camps = self._belief, self._belief.answered_camps
        large = belief.block.sum(axis=1)[(belief.side.size >= TOLD_APART) & (belief.sure > 0.5)]
        looks_mixed = 0.0 if belief.agreement > TELLS and belief.outvoted_tell else float(large.sum())
        tells = belief.tells and belief.outvoted_tell
        unasked = tells or not (len(large) or belief.exceptions > 0)
        mixed = 0.0 if unasked else chance_of_mixtures(looks_mixed, len(large), belief.exceptions)
        camps.are_usual = tells and chance_of_mixtures(float(large.sum()), len(large)) > 0.5
        return max(mixed, camps.mixed)
