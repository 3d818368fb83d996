"""Whose quotes a provider gives: sealed ones, or the paper's (D12).

Quotes are sealed unless the owner says otherwise, or asks for what only the paper's have: a support set, price points,
a seed, or buyers who are judged each alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from pacas.core.anonymity import Policy
from pacas.errors import InputError, did_you_mean

PAPER_QUOTES = (
    'quotes = "paper": free quotes and refusals follow from the values, and tell of them; pacas leak measures it'
)
"""What an owner should see in red."""


class QuoteMode(Enum):
    """What free quotes follow from: public inputs alone, or the values as well (Alg. 1 and 2)."""

    SEALED = "sealed"
    PAPER = "paper"


def quote_mode(said: QuoteMode | str | None, of_paper: Sequence[str], of_sealed: Sequence[str]) -> QuoteMode:
    """The mode that is said, or follows from what is given that only one of them has, by name.

    >>> quote_mode(None, [], []), quote_mode(None, ["seed"], [])
    (<QuoteMode.SEALED: 'sealed'>, <QuoteMode.PAPER: 'paper'>)
    """
    mode = _named(said) if said is not None else QuoteMode.PAPER if of_paper else QuoteMode.SEALED
    if mode is QuoteMode.SEALED and of_paper:
        raise InputError(f'{of_paper[0]}: only the paper\'s quotes have it; leave it out, or say quotes = "paper"')
    if mode is QuoteMode.PAPER and of_sealed:
        given = "" if said is not None else f", and {of_paper[0]} asks for the paper's"
        raise InputError(f"{of_sealed[0]}: only sealed quotes have it{given}; leave one of them out")
    return mode


def sealed_keys(policies: Sequence[Policy]) -> Iterator[str]:
    """What policies ask for that only sealed quotes have."""
    for number, policy in enumerate(policies, start=1):
        given = {"keep": policy.keep > 1, "scope": policy.scope != "group", "criterion": policy.criterion is not None}
        yield from (f"policy {number}.{key}" for key, is_given in given.items() if is_given)


def _named(said: QuoteMode | str) -> QuoteMode:
    try:
        return QuoteMode(said)
    except ValueError:
        known = [mode.value for mode in QuoteMode]
        raise InputError(f"no such quotes; {did_you_mean(str(said), known)}") from None
