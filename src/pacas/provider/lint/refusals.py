"""Attributes of which nothing or little is sold, and policies for whose sake nothing is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.toml import toml_list, toml_text
from pacas.engine.grouping import Ints, Mask, combine
from pacas.protocol.order_of_checks import AMBIGUOUS, UNSAFE
from pacas.provider.lint.dependencies import linked_attributes
from pacas.provider.lint.finding import ProviderFinding, balanced, declared, who
from pacas.provider.lint.free_quotes import FreeQuotes
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms

LITTLE = 0.1
"""People whose value is never sold, from which on that is said."""
NORMAL_95 = 1.96
"""Standard deviations within which 95 of 100 samples are."""


def refused_everything(
    quotes: FreeQuotes, terms: Terms, share: float, files: Mapping[str, str]
) -> Iterator[ProviderFinding]:
    """Attributes that nobody's value, or not everybody's, is sold of, at any level below the root."""
    for attribute in terms.match:
        below = quotes.below_root(attribute)
        never = np.asarray((below < 0).all(axis=1))
        if never.mean() <= min(LITTLE, share):
            continue
        if 2 * quotes.too_many(attribute)[never].sum() >= never.sum():
            why, remedy = _too_many(quotes.own, attribute, terms)
        else:
            why, remedy = _why_never(below[never, -1], attribute, terms, files)
        yield ProviderFinding(
            "sells-nothing" if never.mean() >= share else "sells-little",
            "error" if never.all() else "warning",
            attribute,
            quotes.own.in_all(int(never.sum())),
            f"{attribute} is sold at no level below the root, "
            f"of {never.mean():.0%} of the {who(terms.about)[1]}{_margin(never, quotes.own)}: {why}",
            remedy,
            quotes.own.is_sample,
        )


def _margin(are: Mask, own: OwnRows) -> str:
    """How far the share may be off that follows from some of the rows: within that it is in 95 samples of 100."""
    if not own.is_sample:
        return ""
    share = are.mean()
    deviation = sqrt(share * (1 - share) / own.rows * (1 - own.rows / own.of))
    return f" (± {NORMAL_95 * deviation:.1%}, by {own.rows:,} of them)"


def _too_many(own: OwnRows, attribute: str, terms: Terms) -> tuple[str, str]:
    """What a request finds is more than it may."""
    columns = [clause.provider for clause in terms.match[attribute].clauses]
    largest = own.in_all(int(np.bincount(own.groups(columns) + 1)[1:].max(initial=0)))
    enough = 10 ** len(str(max(largest, terms.max_matches)))
    why = f"requests find more rows by {', '.join(columns)} than max_matches = {terms.max_matches:,} lets them"
    return why, f"max_matches = {enough}"


def _why_never(highest: Ints, attribute: str, terms: Terms, files: Mapping[str, str]) -> tuple[str, str]:
    """Why most requests are refused even at the highest level below the root, and what ends that."""
    columns = [clause.provider for clause in terms.match[attribute].clauses]
    found_by = ", ".join(columns)
    if 2 * (highest == UNSAFE).sum() >= len(highest):
        linked = linked_attributes(terms, attribute)
        number, policy = next((n, p) for n, p in enumerate(terms.policies, start=1) if linked & set(p.y))
        why = f"policy {number} is broken by the answer of some label at every level, whatever the value is"
        return why, _safer(attribute, policy, terms, files)
    if 2 * (highest == AMBIGUOUS).sum() >= len(highest):
        why = f"requests find several rows by {found_by}, which are not declared to have one {attribute}"
        return why, declared(columns, attribute)
    return f"requests find nobody by {found_by}", f"[match]  # {attribute} by columns that have values"


def _safer(attribute: str, policy: Policy, terms: Terms, files: Mapping[str, str]) -> str:
    """What gives an attribute a level that is safe: larger families, or a policy about a level below."""
    level = policy.y_levels.get(attribute, 0)
    if attribute in terms.hierarchies and level + 1 < terms.hierarchies[attribute].height:
        return balanced(attribute, level, policy.k, files)
    if level:
        return f"levels = {{ {attribute} = {level - 1} }}"
    file = toml_text(files.get(attribute, f"{attribute}.csv"))
    return f"[hierarchies]\n{attribute} = {file}  # with a level between the values and the root"


def refused_nothing(quotes: FreeQuotes, terms: Terms) -> Iterator[ProviderFinding]:
    """Policies that nothing is refused for: in some rows, and then in all; nothing is said where these are too many."""
    every = quotes.every
    if every is None:
        return
    for number, policy in enumerate(terms.policies, start=1):
        sold = [a for a in policy.y if a in terms.match]
        if not any((asked.ladders(a) == UNSAFE).any() for asked in (quotes, every) for a in sold):
            yield from _nothing(number, policy, sold, every.own, terms)


def _nothing(number: int, policy: Policy, sold: Sequence[str], own: OwnRows, terms: Terms) -> Iterator[ProviderFinding]:
    named = ", ".join(policy.y)
    shown = _values_shown(policy, own)
    if not sold:
        says = f"policy {number} refuses nothing: {named} is not sold"
        remedy = f"[match]\n{policy.y[0]} = {toml_text(str(next(iter(terms.match.values()))))}"
        yield ProviderFinding("refuses-nothing", "note", named, own.of, says, remedy)
    elif policy.criterion is None and policy.k == 1:
        says = f"policy {number} refuses nothing: k = 1 is kept whatever is sold"
        yield ProviderFinding("refuses-nothing", "error", named, own.of, says, "k = 2")
    elif not len(shown):
        says = f"policy {number} refuses nothing: every row has a null in X, and so is in no X-group"
        filled = [a for a in sorted(terms.found_by - set(terms.protected)) if (own.groups([a]) >= 0).any()]
        remedy = f"x = {toml_list(filled)}"
        yield ProviderFinding("refuses-nothing", "error", named, own.of, says, remedy)
    elif policy.criterion is None and (shown >= policy.k).all():
        says = f"policy {number} refuses nothing: every X-group has {policy.k} values of {named} itself, sold or not"
        yield ProviderFinding("refuses-nothing", "note", named, own.of, says, f"k = {int(shown.min()) + 1}")


def _values_shown(policy: Policy, own: OwnRows) -> Ints:
    """How many values of Y at L the rows of each X-group have."""
    group = own.groups(policy.x)
    value = combine([own.keys(a, level) for a, level in policy.y_levels.items()])
    pairs = np.unique(group[group >= 0] * value.space + value.key[group >= 0])
    return np.bincount(pairs // value.space)
