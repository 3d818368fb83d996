"""Sold and public columns that tell a protected one, and that nobody has declared."""

from __future__ import annotations

from collections.abc import Iterator

from pacas.core.words import counted
from pacas.provider.lint.broken_groups import broken_groups, known_levels
from pacas.provider.lint.dependencies import TellingDependency, find_dependencies
from pacas.provider.lint.finding import SEALED, ProviderFinding, declared
from pacas.provider.lint.free_quotes import FreeQuotes
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms


def undeclared(own: OwnRows, quotes: FreeQuotes | None, terms: Terms, share: float) -> Iterator[ProviderFinding]:
    """A finding for each dependency; an error where it holds for everybody: what is kept back is then sold."""
    for found in find_dependencies(own, terms, share):
        says = f"{_what_tells(found, terms)} {found.fd.rhs} at level {found.right_level}: {_how_far(found)}"
        short = [] if quotes is None else _short(found, quotes, terms)
        yield ProviderFinding(
            "told-by",
            "error" if found.told.is_exact else "warning",
            found.fd.rhs,
            own.in_all(found.told.guessed),
            "".join([says, *short]),
            _remedy(found, terms),
            own.is_sample,
        )


def _short(found: TellingDependency, quotes: FreeQuotes, terms: Terms) -> list[str]:
    """How many X-groups of which policies have too few values left.

    Where each row is protected by itself some rows tell about how many; X-groups of several need all rows.
    """
    said = []
    for number, policy in enumerate(terms.policies, start=1):
        asked = quotes if policy.scope == "row" else quotes.every
        if asked is None or policy.y_levels.get(found.fd.rhs) != found.right_level:
            continue
        own = asked.own
        groups = own.in_all(broken_groups(found, own, known_levels(found, asked, terms), policy, terms))
        about = "about " if own.is_sample else ""
        if groups:
            said.append(f"; {about}{counted(groups, 'X-group falls', 'X-groups fall')} short of policy {number}")
    return said


def _what_tells(found: TellingDependency, terms: Terms) -> str:
    left = found.fd.lhs
    sold = [a for a in left if a in terms.match]
    labels = f", at level {found.level}," if found.level else ""
    is_sold = "sold" if len(sold) == len(left) else f"{sold[0]} sold" if sold else "public"
    verb = "determines" if found.told.is_exact else "nearly determines"
    return f"{' and '.join(left)} ({is_sold}){labels} {verb}"


def _how_far(found: TellingDependency) -> str:
    told = found.told
    return (
        f"of {told.rows:,} people who share it with others {told.share:.1%} are guessed right by it, "
        f"{told.usual / told.rows:.1%} without"
    )


def _remedy(found: TellingDependency, terms: Terms) -> str:
    """To declare it, if that can be; else not to sell what tells or, what everybody can know, not to protect it."""
    if found.can_be_declared:
        section = declared(found.fd.lhs, found.fd.rhs, dictionary=any(a in terms.protected for a in found.fd.lhs))
        return section if terms.sealing is not None else f"{SEALED}\n{section}"
    for attribute in found.fd.lhs:
        if attribute in terms.match:
            return f"[match]  # without {attribute}"
    return f"levels = {{ {found.fd.rhs} = {found.right_level - 1} }}  # level {found.right_level} is public by it"
