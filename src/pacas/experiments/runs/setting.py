"""One run of the evaluation: a data set, how it was made dirty, on which terms it is sold, and how it is cleaned.

Paper: §7, Table "Parameter values". B is the share of what buying every class at level 0 would cost; |S| is the number
of neighbours a cell (D6). Runs are told apart by their settings alone, so that figures share them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from pacas.client.paper.repair import REPAIRS
from pacas.experiments.datasets.dataset import LEVEL, PER_CELL, K
from pacas.provider.quote_mode import QuoteMode

REPLACE, REFINE, WEIGH, WEIGH_FURTHER = "replace", "refine", "weigh", "weigh_further"
"""SafeClean as in the paper, with the client's own evidence (D11), and weighing what may be wrong before it buys; also
where no dependency sees it."""
WEIGHING = (WEIGH, WEIGH_FURTHER)
PRIVATE, PRIVATE_RHS = "private_clean", "private_clean_rhs"
"""PrivateClean and Greedy-Repair: all columns randomized, as in the paper, or the right sides only."""
NO_PURCHASE, NO_PRIVACY = "no_purchase", "no_privacy"
METHODS = (REPLACE, REFINE, *WEIGHING, PRIVATE, PRIVATE_RHS, NO_PURCHASE, NO_PRIVACY)

LINKED, GUARDED = "linked", "guarded"
"""X is the quasi-identifiers alone, as in the paper; or also all that a request is matched by (`dataset.py`)."""
GUARDS = (LINKED, GUARDED)

PAPER, SEALED = (mode.value for mode in (QuoteMode.PAPER, QuoteMode.SEALED))
"""Whose quotes the provider gives (D12)."""
QUOTES = (PAPER, SEALED)

COMPLETE, FIRST, SECOND, CHEAP, PANEL = "complete", "first", "second", "cheap", "panel"
"""Who sells: one that knows all; each of three that know a part, the third cheaply and sometimes wrongly; all three."""
SELLERS = (COMPLETE, FIRST, SECOND, CHEAP, PANEL)

STALE = "stale"
"""Right sides are wrong at random, and in a share of the groups besides one wrong value holds the majority."""
STALE_GROUPS = 0.3

RIGHT, LEFT, MIXED, OVERWRITTEN = "rhs", "lhs", "both", "overwritten"
"""Which side of a dependency the errors are on; or blocks of its groups are overwritten, up to whole groups."""

SHARED = ("dataset", "rows", "seed", "method", "error_rate", "side", "random_rate")
"""What those know of who buy nothing: the table, and how it was made dirty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The parameters of one run; the defaults are the paper's."""

    dataset: str
    rows: int | None = None
    """As many rows of the data set; all of them, if None."""
    seed: int = 0
    """Of the errors, of the support set and of PrivateClean's noise."""
    method: str = REFINE
    guard: str = LINKED
    quotes: str = PAPER
    budget: float = 0.8
    per_cell: int = PER_CELL
    k: int = K
    level: int = LEVEL
    error_rate: float = 0.1
    """The share of tuples with an error; of groups, if they are overwritten."""
    side: str = RIGHT
    random_rate: float = 0.0
    """The share of further tuples with a random error in an attribute of a dependency, whether it breaks one or not."""
    max_level: int | None = None
    allocation: str = "errors"
    quasi_identifiers: int | None = None
    """The first so many of the data set's quasi-identifiers; all of them, if None."""
    sellers: str = COMPLETE

    @property
    def buys(self) -> bool:
        """Is it SafeClean, on a provider with policies?"""
        return self.method in WEIGHING or self.method in REPAIRS

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, line: dict[str, Any]) -> Setting:
        """The setting in a line of results; a parameter that there was not yet is at its default."""
        return cls(**{field.name: line[field.name] for field in fields(cls) if field.name in line})
