"""What speaks for a dependency and what its exceptions look like, in words: the same wherever they are told."""

from __future__ import annotations

from math import floor

from pacas.core.words import counted
from pacas.suggest.dependencies.suggested import SuggestedDependency

KINDS = {"typo": "typo-like", "scattered": "scattered", "block": "in blocks"}


def evidence_words(one: SuggestedDependency, *, examples: bool = False) -> str:
    """Both, on one line."""
    return "; ".join(filter(None, [agreement_words(one), exception_words(one, examples=examples)]))


def agreement_words(one: SuggestedDependency) -> str:
    """How many rows have their group's most frequent value; 100 % is all of them."""
    share = f"{floor(1_000 * one.agreement) / 10:.1f}%" if one.exceptions else "100%"
    return f"{share} of {counted(one.rows, 'row')} in {counted(one.groups, 'group')} agree"


def exception_words(one: SuggestedDependency, *, examples: bool) -> str:
    """How many exceptions there are of each kind, with or without an example of each."""
    numbers = {"typo": one.typo, "scattered": one.scattered, "block": one.blocks}
    kinds = [f"{n:,} {KINDS[kind]}{_example(one, kind) if examples else ''}" for kind, n in numbers.items() if n]
    return f"exceptions: {', '.join(kinds)}" if kinds else ""


def _example(one: SuggestedDependency, kind: str) -> str:
    for found in one.examples:
        if found.kind == kind:
            times = f" × {found.rows:,}" if found.rows > 1 else ""
            return f" ({found.value}{times} → {found.majority})"
    return ""
