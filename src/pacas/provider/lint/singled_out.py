"""People whom a policy's X leaves alone: X-groups of one, and matches that say more than X (D5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pacas.core.anonymity import Policy
from pacas.core.toml import toml_list
from pacas.core.words import counted
from pacas.engine.grouping import Ints
from pacas.provider.lint.finding import EVERYBODY, ProviderFinding
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms, linking_columns


def groups_of_one(own: OwnRows, terms: Terms) -> Iterator[ProviderFinding]:
    """X-groups that hold one person each: nobody else's value hides theirs."""
    for number, policy in enumerate(terms.policies, start=1):
        if own.is_sample or (terms.sealing is not None and policy.scope == "row"):
            continue
        alone, groups = _alone(own, policy.x)
        if alone:
            says = (
                f"policy {number}: {alone:,} of {counted(groups, 'X-group')} ({', '.join(policy.x)}) hold one person, "
                "so that the group's secret is that person's"
            )
            attribute = ", ".join(policy.y)
            yield ProviderFinding("rare-groups", "warning", attribute, alone, says, _larger(own, policy, alone, terms))


def protects_everybody(terms: Terms) -> bool:
    """Whether a policy may protect each row by itself, and something is still sold."""
    return terms.sealing is not None and terms.sealing.registry is None


def _larger(own: OwnRows, policy: Policy, alone: int, terms: Terms) -> str:
    """X without the column that most of them are alone by, if there is such a one; or everybody protected alone."""
    left = {a: _alone(own, [x for x in policy.x if x != a])[0] for a in policy.x if len(policy.x) > 1}
    best = min(left, key=lambda a: left[a], default=policy.x[0])
    if 2 * left.get(best, alone) > alone:
        return EVERYBODY if protects_everybody(terms) else f"x = {toml_list(policy.x)}  # with coarser values of them"
    kept = replace(policy, x=tuple(x for x in policy.x if x != best))
    linked = any(linking_columns(terms.match[a], kept) for a in policy.y if a in terms.match)
    allowed = "\nallow_linkage = true" if linked and not policy.allow_linkage else ""
    return f"x = {toml_list(kept.x)}  # leaves {left[best]:,} of {alone:,}; or coarser values of {best}{allowed}"


def _alone(own: OwnRows, x: Sequence[str]) -> tuple[int, int]:
    """How many groups hold one row, and how many there are."""
    group = own.groups(x)
    return int((_company(group) == 1).sum()), int(group.max(initial=-1)) + 1


def finer_matches(own: OwnRows, terms: Terms) -> Iterator[ProviderFinding]:
    """Attributes that are found by columns outside X, so that one person of an X-group can be told from the others."""
    for number, policy in enumerate(terms.policies, start=1):
        for attribute in policy.y:
            beyond = linking_columns(terms.match[attribute], policy) if attribute in terms.match else []
            if not beyond or (terms.sealing is not None and policy.scope == "row"):
                continue
            says = (
                f"policy {number}: {attribute} is found by {', '.join(beyond)}, outside X, so that a buyer can single "
                "out a person in an X-group"
            )
            remedy = f"x = {toml_list([*policy.x, *beyond])}"
            if protects_everybody(terms):
                remedy = EVERYBODY
            people = _singled_out(own, policy, attribute, terms)
            yield ProviderFinding("finer-than-x", "warning", attribute, people, says, remedy, own.is_sample)


def _singled_out(own: OwnRows, policy: Policy, attribute: str, terms: Terms) -> int:
    """Who is found alone, and is not alone in an X-group; of a sample, everybody who is in one."""
    group = own.groups(policy.x)
    if own.is_sample:
        return own.in_all(int((group >= 0).sum()))
    found = own.groups(terms.match[attribute].provider_columns)
    return int(((_company(group) > 1) & (_company(found) == 1)).sum())


def found_alone(own: OwnRows, terms: Terms) -> bool:
    """Whether anybody is found alone, for any attribute; of a sample, everybody may be."""
    if own.is_sample or not all(match.is_by_equality for match in terms.match.values()):
        return True
    return any((_company(own.groups(match.provider_columns)) == 1).any() for match in terms.match.values())


def _company(group: Ints) -> Ints:
    """Per row how many are in its group; 0 where it is in none."""
    sizes: Ints = np.append(np.bincount(group[group >= 0]), 0)[group]
    return sizes
