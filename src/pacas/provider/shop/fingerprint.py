"""What a ledger's history belongs to: a digest of each thing that prices and answers follow from.

A support set that was given is known by its neighbours. One that was generated is known by what it follows from, so
that it need not be made to be known; so are weights that follow from a total.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.query import MAIN
from pacas.engine.contract import Engine, Source
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.support.support_set import Generated
from pacas.provider.support.weights import Factor
from pacas.provider.terms import Terms


def relation_digests(engine: Engine[Any], sources: Mapping[str, Source]) -> dict[str, str]:
    """A hex digest by relation; a part that changes is named when the ledger is opened again."""
    return {"relation" if name == MAIN else f"relation {name}": engine.digest(s) for name, s in sources.items()}


def ledger_mode(fingerprint: Mapping[str, str]) -> QuoteMode:
    """Whose quotes a ledger was opened with: sealed ones keep rows back in public."""
    return QuoteMode.SEALED if "reserve" in fingerprint else QuoteMode.PAPER


def terms_digests(terms: Terms) -> dict[str, str]:
    """A hex digest of each thing that the owner decides."""
    parts = {f"hierarchy of {a}": _hierarchy(hierarchy) for a, hierarchy in terms.hierarchies.items()}
    return parts | {
        "match": text_digest({a: str(dependency) for a, dependency in terms.match.items()}),
        "policies": text_digest(_policies(terms)),
        **({} if terms.schedule.is_flat else {"schedule": text_digest(terms.schedule.pairs())}),
        **({} if terms.circle is None else {"circle": terms.circle}),
    }


def generated_digest(
    terms: Terms, seed: bytes, rows: int, domains: Mapping[str, Hierarchy], counts: Sequence[int]
) -> str:
    """A generated support set, by what it follows from and how many neighbours of each kind it has."""
    how = terms.support
    assert isinstance(how, Generated)
    mix = [str(share) for share in (how.mix.update, how.mix.swap, how.mix.insert, how.mix.delete)]
    own = {a: sorted(domain.ground_labels) for a, domain in domains.items() if a not in terms.hierarchies}
    secret = hashlib.sha256(seed).hexdigest()
    return text_digest([GENERATED, secret, how.per_cell, how.size, mix, list(domains), own, rows, list(counts)])


GENERATED = "pacas support set 1"
"""The rules by which support sets are generated; whoever changes them changes this."""


def weights_digest(terms: Terms, counts: Mapping[str, int], edits: int) -> dict[str, str]:
    """Weights that are uniform or by sensitivity, by what they follow from."""
    total, runs, factors = terms.weight_runs(counts, edits)
    return {"weights": text_digest([total, runs, factors and [str(_exact(factor)) for factor in factors]])}


def _exact(factor: Factor) -> Fraction:
    return Fraction(str(factor))


def _hierarchy(hierarchy: Hierarchy) -> str:
    return text_digest([hierarchy.numeric, list(hierarchy.labels), hierarchy.ancestors.tolist()])


def _policies(terms: Terms) -> list[Any]:
    """What each asks for; a criterion beyond k came later, and ledgers from before are still to open."""
    return [[p.x, p.y, p.y_levels, p.k, p.allow_linkage, *_criterion(p)] for p in terms.policies]


def _criterion(policy: Policy) -> list[Any]:
    given = policy.criterion
    return [] if given is None else [given.name, {name: str(value) for name, value in given.parameters.items()}]


def text_digest(value: Any) -> str:
    """A hex digest of what JSON can write."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
