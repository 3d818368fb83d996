"""The largest k and the levels that keep most sales possible."""

from __future__ import annotations

from collections.abc import Sequence

from pacas.core.hierarchy import Hierarchy
from pacas.suggest.coded_table import CodedTable
from pacas.suggest.policies.suggested import SuggestedPolicy


def suggest_policy(
    table: CodedTable,
    attribute: str,
    hierarchy: Hierarchy,
    x: Sequence[str],
    *,
    match: Sequence[str] | None = None,
    tied: bool = False,
    share: float = 0.9,
    level: int | None = None,
) -> SuggestedPolicy:
    """For an attribute that is found by `match` (unless given, by X) and protected in X-groups.

    `tied`: the match is declared to determine the attribute, so that rows that are found together are sold as one.
    `level` is the finest level that should stay for sale; unless given, the finest at which any k above 1 does.
    """
    raise NotImplementedError
