"""What the outcome of a cleaning follows from: small things as they are, large ones as a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pacas.client.buying.sellers import Markets
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.protocol.messages import Offer


def run_parts(
    digest: str,
    cleaner: SafeClean,
    choices: Mapping[str, Any],
    provider: str | Mapping[str, str],
    buyer: str | Mapping[str, str],
) -> dict[str, Any]:
    """All that a run's outcome follows from, by name. `digest` is the table's; `provider` that of what is offered
    (`offers_digests`).

    `choices` are the options as they were given.
    """
    return {
        "data": digest,
        "fds": [str(fd) for fd in cleaner.fds],
        "hierarchies": _digest({a: _hierarchy(h) for a, h in cleaner.hierarchies.items()}),
        "budget": cleaner.budget,
        **choices,
        "cells": _digest(sorted(cleaner.cells)) if cleaner.cells else None,
        "provider": provider if isinstance(provider, str) else dict(provider),
        "buyer": buyer if isinstance(buyer, str) else dict(buyer),
    }


def offers_digests(cleaner: SafeClean, markets: Markets) -> str | dict[str, str]:
    """What a provider is known by, or each of several, by name."""
    if isinstance(markets, Mapping):
        return {name: offers_digest(market.catalogue()) for name, market in markets.items()}
    return offers_digest(cleaner.catalogue(markets))


def offers_digest(catalogue: Mapping[str, Offer]) -> str:
    """What one provider is known by: all that a run's outcome follows from of what it offers."""
    return _digest({a: [offer.columns, _hierarchy(offer.hierarchy)] for a, offer in catalogue.items()})


def _hierarchy(hierarchy: Hierarchy) -> str:
    shape = hashlib.sha256(hierarchy.ancestors.tobytes()).hexdigest()
    return _digest([hierarchy.numeric, list(hierarchy.labels), shape])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
