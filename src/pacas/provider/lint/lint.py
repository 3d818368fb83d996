"""All that is to be mended at a provider, by its terms and its own table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pacas.core.toml import toml_list
from pacas.engine.contract import Engine, Source
from pacas.provider.lint.dependencies import SHARE
from pacas.provider.lint.families import only_children, small_families, uneven_families
from pacas.provider.lint.finding import EVERYBODY, PEOPLE, SEALED, ProviderFinding, who, worst_first
from pacas.provider.lint.free_quotes import FreeQuotes
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.lint.published import published_dependencies
from pacas.provider.lint.refusals import refused_everything, refused_nothing
from pacas.provider.lint.singled_out import finer_matches, found_alone, groups_of_one, protects_everybody
from pacas.provider.lint.undeclared import undeclared
from pacas.provider.provider import Provider
from pacas.provider.terms import Terms


def lint_provider(
    provider: Provider,
    engine: Engine[Any],
    source: Source,
    *,
    share: float = SHARE,
    files: Mapping[str, str] | None = None,
    most: int | None = None,
) -> list[ProviderFinding]:
    """All findings, the worst first; `files` are the hierarchies', and at most so many rows are looked at."""
    terms = provider.shop.terms
    own = OwnRows.read(engine, source, terms, most)
    quotes = FreeQuotes.affordable(provider, own)
    named = files or {}
    found = worst_first(
        [
            *_of_terms(own, terms),
            *_not_looked_at(own, quotes, terms),
            *undeclared(own, quotes, terms, share),
            *(() if quotes is None else refused_everything(quotes, terms, share, named)),
            *(() if quotes is None else refused_nothing(quotes, terms)),
            *small_families(own, terms, named),
            *only_children(own, terms, named),
            *uneven_families(own, terms, named),
            *groups_of_one(own, terms),
            *finer_matches(own, terms),
            *published_dependencies(own, terms),
        ]
    )
    return [replace(one, about=terms.about) for one in found]


def _of_terms(own: OwnRows, terms: Terms) -> Iterator[ProviderFinding]:
    """What the terms say by themselves."""
    sold = ", ".join(terms.sold)
    if not terms.policies and terms.about == "things":
        says = "there is no policy: relation.about says that rows are about things, and everything is safe to sell"
        yield ProviderFinding("unprotected", "note", sold, 0, says, PEOPLE)
    elif not terms.policies:
        alone = found_alone(own, terms)
        says = "there is no policy: everything is safe to sell"
        says += "" if alone else "; nobody is found alone, and what is sold is of several people each"
        yield ProviderFinding("unprotected", "warning" if alone else "note", sold, own.of, says, _policy(terms))
    if terms.sealing is None:
        whose = "the rows'" if terms.about == "things" else "people's"
        says = f"free quotes and refusals follow from {whose} values, and tell them; pacas leak says how far"
        yield ProviderFinding("free-quotes-tell", "warning", sold, own.of, says, SEALED)


def _policy(terms: Terms) -> str:
    """A policy about what is sold first, of people as they are found."""
    attribute = terms.sold[0]
    x = [column for column in terms.match[attribute].provider_columns if column != attribute]
    protects = f"[[policy]]\nx = {toml_list(x)}\ny = {toml_list([attribute])}\nk = 2"
    return f"{protects}\n{EVERYBODY}" if protects_everybody(terms) else protects


def _not_looked_at(own: OwnRows, quotes: FreeQuotes | None, terms: Terms) -> Iterator[ProviderFinding]:
    """What takes too much memory or time, if anything does."""
    is_asked = quotes is not None and quotes.every is not None
    asked = own.of if is_asked else 0 if quotes is None else quotes.own.rows
    left_out = []
    if own.is_sample:
        left_out.append(
            f"{own.rows:,} of {own.of:,} rows were looked at, so that numbers of {who(terms.about)[1]} are estimates, "
            "and X-groups of one were not looked for"
        )
    if asked < own.of:
        what = "everything or nothing" if quotes is None else "nothing"
        left_out.append(f"{asked:,} rows were quoted, so that policies that refuse {what} were not looked for")
    if left_out:
        by_equality = "[match]  # by equality"
        remedy = 'memory = "16GB"  # or as much as the relation needs' if own.stays_on_engine else by_equality
        people = own.of - min(asked, own.rows)
        yield ProviderFinding("not-looked-at", "note", ", ".join(terms.sold), people, "; ".join(left_out), remedy)
