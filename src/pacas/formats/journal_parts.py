"""What the outcome of a cleaning follows from, part by part: small things as they are, large ones as a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.protocol.messages import Offer


def run_parts(
    digest: str, cleaner: SafeClean, choices: Mapping[str, Any], catalogue: Mapping[str, Offer], buyer: str
) -> dict[str, Any]:
    """The parts of a run. `digest` is its engine's, of the table; the provider is known by what it offers.

    `choices` are the options as they were given.
    """
    return {
        "data": digest,
        "fds": [str(fd) for fd in cleaner.fds],
        "hierarchies": _digest({a: _hierarchy(h) for a, h in cleaner.hierarchies.items()}),
        "budget": cleaner.budget,
        **choices,
        "cells": _digest(sorted(cleaner.cells)) if cleaner.cells else None,
        "provider": _digest({a: [offer.columns, _hierarchy(offer.hierarchy)] for a, offer in catalogue.items()}),
        "buyer": buyer,
    }


def _hierarchy(hierarchy: Hierarchy) -> str:
    shape = hashlib.sha256(hierarchy.ancestors.tobytes()).hexdigest()
    return _digest([hierarchy.numeric, list(hierarchy.labels), shape])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
