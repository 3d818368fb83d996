"""Quotes are sealed unless a provider's owner says otherwise, or asks for what only the paper's have (D12)."""

from __future__ import annotations

from typing import Any

import pytest

from pacas import example
from pacas.core.anonymity import Policy
from pacas.core.query import GeneralizedQuery
from pacas.errors import InputError
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.quoter.declared import Sealing
from pacas.provider.support.support_set import Generated
from pacas.provider.terms import HistoryScope, ViewPrice

POINT = ViewPrice("all", GeneralizedQuery.parse("ID, MED"), 10**9)
TWO_KEPT = Policy(("GEN",), ("MED",), {"MED": 0}, 2, True, keep=2)


def made(**options: Any) -> Provider:
    return Provider(example.provider, match={"MED": example.md}, hierarchies=example.hierarchies, **options)


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, "sealed"),
        ({"policies": [TWO_KEPT]}, "sealed"),
        ({"sealing": Sealing()}, "sealed"),
        ({"quotes": "sealed"}, "sealed"),
        ({"quotes": QuoteMode.PAPER}, "paper"),
        ({"seed": 0}, "paper"),
        ({"support": Generated()}, "paper"),
        ({"points": [POINT]}, "paper"),
        ({"history": HistoryScope.PER_BUYER}, "paper"),
        ({"history": "pooled"}, "sealed"),
        ({"seed": 1, "quotes": "paper"}, "paper"),
    ],
)
def test_the_mode_follows_from_what_is_given(options: dict[str, Any], mode: str) -> None:
    assert made(**options).shop.terms.quotes.value == mode


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quotes": "sealed", "seed": 0}, 'seed: only the paper\'s quotes have it; .* quotes = "paper"'),
        ({"quotes": "sealed", "support": Generated()}, "support: only the paper's"),
        ({"sealing": Sealing(), "seed": 1}, "sealing: only sealed quotes have it, and seed asks for the paper's"),
        ({"policies": [TWO_KEPT], "quotes": "paper"}, "policy 1.keep: only sealed quotes have it"),
        ({"quotes": "seald"}, "no such quotes; did you mean 'sealed'?"),
    ],
)
def test_what_only_one_mode_has_does_not_go_with_the_other(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        made(**options)
