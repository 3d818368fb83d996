"""Small shops with checkpoints, for the tests: every kind of sales, and a store that lasts as long as its process."""

from __future__ import annotations

from typing import Any

from engines import Roomless

from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.provider.quoter.declared import Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated
from pacas.server.signing_key import SigningKey

KEY = SigningKey.generate()
WARDS, BUYERS = "pqr", ("ann", "bob")
TREE = Hierarchy.from_rows([(v, v.upper() if v in "ab" else "Z", "*") for v in "abcdef"])
HELD, ROOMLESS = DuckEngine(threads=1), Roomless()
PAPER: dict[str, Any] = {"quotes": "paper", "seed": 7, "engine": HELD}
KINDS: dict[str, dict[str, Any]] = {
    "paper": PAPER,
    "per buyer": PAPER | {"history": "per_buyer"},
    "edits": PAPER | {"support": Generated(per_cell=4, mix=Mix(0.5, 0.5))},
    "on engine": PAPER | {"engine": ROOMLESS},
    "sealed": {"engine": HELD},
    "sealed, last": {"engine": HELD, "sealing": Sealing(reserve=Reserve.LAST)},
    "sealed on engine": {"engine": ROOMLESS, "sealing": Sealing(reserve=Reserve.LAST)},
}
ROWS = [(ward, bed, v) for ward in WARDS for bed, v in zip("12345", "abcde", strict=True)]


class KeptInMemory:
    """The last checkpoint, and how often one was kept."""

    def __init__(self) -> None:
        self.kept: tuple[str, str] | None = None
        self.times = 0

    def last(self) -> tuple[str, str] | None:
        return self.kept

    def keep(self, text: str, signature: str) -> None:
        self.kept, self.times = (text, signature), self.times + 1

    def close(self) -> None:
        pass


def shop(kind: str, ledger: Ledger, checkpoints: Checkpoints | None = None) -> Provider:
    columns = dict(zip(("W", "BED", "M"), map(list, zip(*ROWS, strict=True)), strict=True))
    columns["N"] = columns["M"][::-1]
    match = {"M": "W = W, BED = BED", "N": "W = W, BED = BED"}
    policies = [
        Policy(("W",), ("M",), {"M": 1}, 2, allow_linkage=True),
        Policy(("W", "BED"), ("N",), {"N": 1}, 2),
    ]
    trees = {"M": TREE, "N": TREE}
    return Provider(
        columns,
        match=match,
        policies=policies,
        hierarchies=trees,
        total=1000,
        ledger=ledger,
        checkpoints=checkpoints,
        **KINDS[kind],
    )


def said(provider: Provider) -> list[Any]:
    """All that a provider tells and knows of what was sold."""
    tuples = {"W": [ward for ward, _, _ in ROWS], "BED": [bed for _, bed, _ in ROWS]}
    sales = provider.shop.sales
    told = [provider.quote_batch(a, tuples, buyer=b).prices.tolist() for a in "MN" for b in (*BUYERS, "nobody")]
    return [told, sales.totals(), sales.count, [sales.tab(b) for b in BUYERS], provider.till.known]
