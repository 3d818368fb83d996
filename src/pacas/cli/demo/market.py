"""The running example, traded at the paper's quotes: a ladder of prices, a refusal and why, purchases, the table.

Paper: §5 and §6, Figure 3. The client is the paper's, too: most errors first, a purchase for each class. Both parties
are seen from above here; neither sees what the other has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.text import Text

from pacas import example
from pacas.cli.clean.summary import as_json as cleaning_as_json
from pacas.cli.demo.show import show, title, tuples
from pacas.cli.market.requests import as_json as quote_as_json
from pacas.cli.market.requests import shown
from pacas.cli.options import out
from pacas.cli.plain_table import plain_table
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import BECAUSE, explain
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.core.money import rounded_text
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Quote, Refusal
from pacas.provider.provider import Provider

POLICY = Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, k=3)
TOTAL, BUDGET = 6, 2
SEED = 7
"""So that everybody sees the same; a provider's own is a secret."""
FLAGGED = 4
"""t5, which shares a diagnosis with t4 by mistake."""


@dataclass(frozen=True, slots=True)
class Trade:
    """What was quoted before anything was sold, and what a cleaning made of it."""

    ladders: dict[int, list[Quote | Refusal]]
    """By row of a class, from level 0 up."""
    cleaning: Cleaning

    def as_json(self) -> dict[str, Any]:
        quotes = [{"row": row, "levels": [quote_as_json(q) for q in ladder]} for row, ladder in self.ladders.items()]
        return {"quotes": quotes, "cleaning": cleaning_as_json(self.cleaning)}


def paper_provider(relation: Relation, engine: DuckEngine) -> Provider:
    return Provider(
        relation,
        match={"MED": example.md},
        policies=[POLICY],
        hierarchies=example.hierarchies,
        total=TOTAL,
        seed=SEED,
        engine=engine,
    )


def trade(provider: Provider, engine: DuckEngine) -> Trade:
    """Quotes for the tuples that a cleaning asks about, and the cleaning."""
    columns = provider.catalogue()["MED"].columns
    ladders = provider.quote_batch("MED", {c: example.client.table.column(c) for c in columns})
    quotes = {row: ladders[row] for row in range(len(ladders))}
    cleaning = SafeClean([example.fd], BUDGET, strategy="paper").clean(example.client, provider, engine=engine)
    asked = sorted(row for purchase in cleaning.purchases for row in purchase.rows.tolist())
    return Trade({row: quotes[row] for row in asked}, cleaning)


def tell(market: Trade, engine: DuckEngine) -> None:
    title("4. What a value costs, level by level, in the paper's market")
    tell_quotes(market.ladders)
    out.print(f"In credits; the whole table costs {TOTAL}. The provider has no male of 45.\n")
    _refusal()
    title(f"6. Purchases as in the paper, most errors first, with a budget of {BUDGET} credits")
    tell_purchases(market.cleaning)
    _repaired(market.cleaning, engine)


def tell_quotes(ladders: dict[int, list[Quote | Refusal]]) -> None:
    out.print(f"The provider finds a client's tuple by {example.md}. Its quotes:")
    levels = [f"level {level}" for level in range(example.med.height + 1)]
    table = plain_table("tuple", *levels, numbers=levels)
    for row, ladder in ladders.items():
        table.add_row(tuples([row]), *map(shown, ladder))
    out.print(table)


def possible(value: str, level: int) -> tuple[str, int]:
    """What an answer at a level says, and how many medications it leaves possible."""
    said = str(example.med.generalize_value(value, level))
    return said, sum(said in chain for chain in example.med.rows())


def _refusal() -> None:
    title("5. A refusal, and why")
    out.print(f"Each group of {', '.join(POLICY.x)} must stay linked to at least {POLICY.k} medications.")
    for row, value, levels in ((0, "ibuprofen", (0, 1)), (FLAGGED, "tylenol", (0, 1, 2))):
        for level in levels:
            said, left = possible(value, level)
            verdict = ("sold", "green") if left >= POLICY.k else ("refused", "yellow")
            drugs = f"{left} medication{'s' if left != 1 else ''}"
            out.print(Text.assemble(f"  {tuples([row])}, level {level}: {said} leaves {drugs} possible: ", verdict))
    out.print("An unsafe answer has no price, however much is offered.\n")


def tell_purchases(cleaning: Cleaning) -> None:
    for purchase in cleaning.purchases:
        repair = cleaning.repair_of[purchase.key]
        price = rounded_text(purchase.price)
        out.print(f"{purchase.attribute} of {tuples(purchase.rows.tolist())}, by asking about t{purchase.row + 1}:")
        out.print(f"  bought   {purchase.value} (level {purchase.level}) for {price}")
        out.print(f"  written  {repair.new}: {BECAUSE[repair.why]}")
    out.print(f"{rounded_text(cleaning.spent_nanocredits)} of {BUDGET} credits spent.\n")


def _repaired(cleaning: Cleaning, engine: DuckEngine) -> None:
    title("7. The repaired table")
    show(cleaning.relation, {(int(r), p.attribute) for p in cleaning.repairs for r in p.written}, "green")
    out.print(f"{cleaning.violations_before} violations before, {cleaning.violations_after} after.")
    step = explain(cleaning, FLAGGED, "MED", engine=engine).steps[-1]
    if step.flagged:
        asked = tuples([step.purchases[-1].row])
        out.print(f"Look at {tuples([FLAGGED])}: its own quotes were others than {asked}'s; do they belong together?")
        out.print("In truth t4 has migraine: it was in t5's class by mistake, and t5 was right.")
    out.print()
