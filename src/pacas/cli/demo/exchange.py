"""What free quotes tell: two patients exchange their medications, and are quoted again; then the sealed market.

A quote that changes with the value tells of it. Sealed quotes follow from gender and age alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pacas import example
from pacas.cli.demo.market import Trade, paper_provider, tell_purchases, tell_quotes, trade
from pacas.cli.demo.show import title
from pacas.cli.market.requests import as_json as quote_as_json
from pacas.cli.market.requests import shown
from pacas.cli.options import out
from pacas.cli.plain_table import plain_table
from pacas.core.anonymity import Policy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Quote, Refusal
from pacas.provider.provider import Provider

PAIR = (1, 3)
"""m2 and m4: an NSAID, of which there are three, and an acetaminophen, of which there are two."""
POLICY = Policy(("GEN",), ("MED",), {"MED": 0}, k=3, allow_linkage=True)
TOTAL = "5.4"

Ladder = Sequence[Quote | Refusal]
Quoted = tuple[Ladder, Ladder]
"""Before and after."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The quotes for both patients before and after, at the paper's quotes and at sealed ones; and a sealed market."""

    paper: list[Quoted]
    sealed: list[Quoted]
    market: Trade

    def as_json(self) -> dict[str, Any]:
        both = {"paper": self.paper, "sealed": self.sealed}
        told = {mode: [_as_json(*one) for one in zip(PAIR, found, strict=True)] for mode, found in both.items()}
        return {"exchanged": told, "sealed": self.market.as_json()}


def exchange(engine: DuckEngine) -> Exchange:
    return Exchange(
        _before_and_after(paper_provider, engine),
        _before_and_after(sealed_provider, engine),
        trade(sealed_provider(example.provider, engine), engine),
    )


def sealed_provider(relation: Relation, engine: DuckEngine) -> Provider:
    """Everybody of one gender is one group, of which one patient is kept back."""
    return Provider(
        relation,
        match={"MED": example.md},
        policies=[POLICY],
        hierarchies={"MED": example.med},
        total=TOTAL,
        engine=engine,
    )


def tell(found: Exchange) -> None:
    _told(found)
    title("9. The same client, the paper's, at sealed quotes")
    out.print("Whoever knows a patient's gender must find 3 medications possible. One patient")
    out.print("of each is kept back, drawn in public; the others are sold as they are.")
    tell_quotes(found.market.ladders)
    tell_purchases(found.market.cleaning)


def _told(found: Exchange) -> None:
    title("8. What the paper's free quotes tell")
    names = [f"{example.provider.table['ID'][row]}" for row in PAIR]
    values = [f"{example.provider.table['MED'][row]}" for row in PAIR]
    out.print(f"{names[0]} takes {values[0]}, {names[1]} takes {values[1]}. They exchange them, and are quoted again:")
    table = plain_table("quotes", "patient", "before: level 0, 1, 2", "after: level 0, 1, 2")
    for mode, pairs in (("the paper's", found.paper), ("sealed", found.sealed)):
        for name, (before, after) in zip(names, pairs, strict=True):
            table.add_row(mode, name, _below_the_root(before), _below_the_root(after))
    out.print(table)
    out.print("Who asks for the paper's quotes, and pays nothing, learns the family of both.")
    out.print("Sealed ones follow from gender and age: they tell nothing, and stay as they are.\n")


def _below_the_root(ladder: Ladder) -> str:
    return " ".join(f"{shown(quote)!s:>6}" for quote in ladder[:-1])


def _before_and_after(provider: Callable[[Relation, DuckEngine], Provider], engine: DuckEngine) -> list[Quoted]:
    quoted = [_ladders(provider(relation, engine)) for relation in (example.provider, _exchanged(example.provider))]
    return list(zip(*quoted, strict=True))


def _ladders(provider: Provider) -> list[Ladder]:
    columns = provider.catalogue()["MED"].columns
    asked = example.provider.table.take(pa.array(PAIR))
    ladders = provider.quote_batch("MED", {c: asked.column(c) for c in columns})
    return [ladders[at] for at in range(len(PAIR))]


def _exchanged(relation: Relation) -> Relation:
    values = relation.table["MED"].to_pylist()
    one, other = PAIR
    values[one], values[other] = values[other], values[one]
    return Relation(relation.table.set_column(relation.table.column_names.index("MED"), "MED", pa.array(values)))


def _as_json(row: int, quoted: Quoted) -> dict[str, Any]:
    before, after = ([quote_as_json(quote) for quote in ladder] for ladder in quoted)
    return {"row": row, "before": before, "after": after}
