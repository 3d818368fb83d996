"""What dependencies that are published tell beyond what is sold."""

from __future__ import annotations

from collections.abc import Iterator

from pacas.core.dependency import FunctionalDependency
from pacas.core.toml import toml_list
from pacas.provider.lint.finding import ProviderFinding, who
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms


def published_dependencies(own: OwnRows, terms: Terms) -> Iterator[ProviderFinding]:
    """A finding for each: a warning where what it tells of is sold or protected, and it is not declared."""
    declared = {(frozenset(one.fd.lhs), one.fd.rhs) for one in terms.dependencies}
    for fd in terms.published:
        tells = fd.rhs in terms.protected and (frozenset(fd.lhs), fd.rhs) not in declared
        others = [str(one) for one in terms.published if one != fd]
        yield ProviderFinding(
            "published-dependency",
            "warning" if tells else "note",
            fd.rhs,
            own.of,
            f"{fd} is published: {_told(fd, terms)}",
            f"publish_dependencies = {toml_list(others)}",
        )


def _told(fd: FunctionalDependency, terms: Terms) -> str:
    known = {*terms.match, *(c for md in terms.match.values() for c in md.client_columns), *terms.found_by}
    unnamed = [attribute for attribute in fd.attributes if attribute not in known]
    names = f", and that there is a column {' and a column '.join(unnamed)}" if unnamed else ""
    left = " and ".join(fd.lhs)
    everybody = "all" if terms.about == "things" else "everybody"
    return f"who knows {fd.rhs} of one {who(terms.about)[0]} knows it of {everybody} with the same {left}{names}"
