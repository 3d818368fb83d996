"""An audit of sealed quotes counts what policies keep back, and below which levels, as the definitions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import HealthCheck, given
from lanes import many_examples
from oracles.sealed_cases import CASES, ENGINE, ROOMLESS, Case, literal_market, opened

import pacas
from pacas.provider.audit import audit
from pacas.provider.ledger.chain import PAGE


@many_examples(800, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_an_audit_counts_what_is_kept_back_and_below_which_levels(case: Case) -> None:
    public, private, _ = case
    literally = literal_market(public)
    provider = opened(public, private, sealing=public.sealing, engine=ROOMLESS if public.apart else ENGINE)
    for number, (buyer, _, attribute, key, level) in enumerate(public.operations):
        at = min(level, public.hierarchies[attribute].height)
        provider.pay(pacas.Request({"K": key}, attribute, at), 10**15, f"{number}", buyer=buyer)
        literally.buy(key, attribute, at, buyer)
    found = audit(provider)
    assert found.reserve is public.reserve
    sizes = Counter(x for _, x, _ in public.rows)
    for policy, rule in zip(found.policies, literally.rules, strict=True):
        kept = policy.kept_back
        assert kept is not None
        assert (kept.rows, kept.open_rows) == (literally.kept_rows(rule), literally.open_rows(rule))
        assert {a: set(levels) for a, levels in kept.safe_levels.items()} == literally.lowest_sold(rule)
        listed = policy.behind.page(-PAGE, PAGE, 0, PAGE)
        margins = {x: margin for ((x,), _, margin) in listed}
        assert len(listed) == policy.groups
        expected = literally.margins(rule)
        assert margins == expected if not public.listed else _signs(margins) == _signs(expected)
        assert all(rows == sizes[str(x)] or public.apart for ((x,), rows, _) in listed)
        assert Counter(margin for _, _, margin in listed) == policy.margins


def _signs(margins: Mapping[str | None, int] | Mapping[str, int]) -> dict[str | None, bool]:
    """Whether each group has enough, which is all that can be said of a registry's."""
    return {x: margin >= 0 for x, margin in margins.items()}
