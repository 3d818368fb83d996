"""What `pacas clean` says at its end: as JSON, and as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from rich.table import Table
from rich.text import Text

from pacas.cli.options import out, printable
from pacas.cli.plain_table import plain_table
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.steps import BoughtValue, Repair, Unrepaired
from pacas.core.money import credits_words, in_credits, rounded_text
from pacas.core.words import counted

T = TypeVar("T")

LITTLE = 0.05
"""Bits of expected error that nobody would pay for."""
SHOWN = 20
"""Rows of the list of a dry run, and of the reasons."""


def as_json(cleaning: Cleaning, *, dry: bool = False) -> dict[str, Any]:
    """A cleaning's outcome; money in credits, rows counted from 0."""
    return {
        "budget": cleaning.budget,
        "spent": cleaning.spent,
        "violations_before": cleaning.violations_before,
        "violations_after": cleaning.violations_after,
        "rounds": cleaning.rounds,
        "purchases": [_purchase(p, cleaning.repair_of.get(p.key), dry) for p in cleaning.purchases],
        "unrepaired": [
            {"attribute": left.attribute, "rows": left.rows.tolist(), "reason": left.reason}
            | ({"price": in_credits(left.price)} if left.price else {})
            | ({} if left.cheapest is None else {"cheapest": in_credits(left.cheapest)})
            for left in cleaning.unrepaired
        ],
        "to_look_at": [] if dry else [asdict(cell) for cell in cleaning.to_look_at],
        "dry_run": dry,
    } | _more(cleaning)


def _more(cleaning: Cleaning) -> dict[str, Any]:
    """What only some cleanings have to tell."""
    weighing = {} if cleaning.weighing is None else {"weighing": _weighing(cleaning.weighing)}
    if (panel := cleaning.panel) is None:
        return weighing
    return weighing | {
        "providers": _providers(cleaning, panel),
        "may_have_cost": in_credits(panel.open_nanocredits),
        "overcharged": in_credits(sum(panel.overcharged.values())),
    }


def _providers(cleaning: Cleaning, panel: PanelSummary) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "spent": in_credits(panel.paid.get(name, 0)),
            "purchases": sum(p.provider == name for p in cleaning.purchases),
            "reliability": {a: rates[name] for a, rates in panel.reliabilities.items() if name in rates},
            "away": panel.away.get(name),
        }
        for name in panel.names
    ]


def _weighing(weighing: Judgement) -> dict[str, Any]:
    knee = weighing.knee
    return {
        "careful": weighing.careful,
        "free": weighing.free,
        "paid": weighing.paid,
        "vote": weighing.voted,
        "expected": [{"spent": in_credits(spent), "error": error} for spent, error in weighing.expected],
        "knee": None if knee is None else {"spent": in_credits(knee[0]), "error": knee[1]},
        "rates": [
            {
                "fd": str(r.fd),
                "wrong": r.wrong,
                "overwritten": r.overwritten,
                "misplaced": r.misplaced,
                "mixed": r.mixed,
            }
            for r in weighing.rates
        ],
        "doubtful": [asdict(cell) for cell in weighing.doubtful],
    }


def _purchase(purchase: BoughtValue, repair: Repair | None, dry: bool) -> dict[str, Any]:
    return {
        "attribute": purchase.attribute,
        "rows": purchase.rows.tolist(),
        "level": purchase.level,
        "value": None if dry else purchase.value,
        "price": in_credits(purchase.price),
        "written": None if dry or repair is None else repair.new,
    } | ({} if purchase.provider is None else {"provider": purchase.provider})


def print_summary(cleaning: Cleaning) -> None:
    """Print violations before and after, the money, repairs by attribute and level, and what is left by reason."""
    table = Table("", "", box=None, pad_edge=False, show_header=False)
    before, after = cleaning.violations_before, cleaning.violations_after
    left = Text(f"{after:,}", style="green" if after == 0 else "yellow")
    table.add_row("violations", Text.assemble(f"{before:,} → ", left))
    if cleaning.budget_nanocredits or cleaning.weighing is None:
        table.add_row(
            "spent", f"{rounded_text(cleaning.spent_nanocredits)} of {credits_words(cleaning.budget_nanocredits)}"
        )
    if cleaning.weighing is None:
        table.add_row("repaired", f"{_classes(len(cleaning.repairs))}, {_cells(cleaning.written)} changed")
    else:
        _add_weighed(table, cleaning.weighing)
    table.add_row("unrepaired", _classes(len(cleaning.unrepaired)))
    if cleaning.flagged and cleaning.weighing is None:
        doubtful = f"{_cells(cleaning.flagged)} changed whose class or value is doubtful"
        table.add_row("to look at", f"{doubtful}; --changes lists them")
    if cleaning.rounds > 1:
        table.add_row("rounds", str(cleaning.rounds))
    out.print(table)
    if cleaning.purchases:
        out.print()
        out.print(_by_level(cleaning))
    if cleaning.panel is not None:
        out.print()
        out.print(_by_provider(cleaning, cleaning.panel))
        if cleaning.panel.open_nanocredits:
            out.print(
                f"Orders that nobody has answered may have cost up to {credits_words(cleaning.panel.open_nanocredits)} "
                "more; they are not in what was spent."
            )
        for name, more in cleaning.panel.overcharged.items():
            out.print(
                f"{printable(name)} says that it took {credits_words(more)} more than it was allowed to; that is not "
                "in what was spent."
            )
    if cleaning.unrepaired:
        out.print()
        out.print(_by_reason(cleaning.unrepaired))


def _by_provider(cleaning: Cleaning, panel: PanelSummary) -> Table:
    heads = ("bought", "spent", "right, as learnt")
    table = plain_table("provider", *heads, numbers=heads)
    for told in _providers(cleaning, panel):
        rates = ", ".join(f"{printable(a)} {rate:.0%}" for a, rate in told["reliability"].items())
        spent = rounded_text(panel.paid.get(told["name"], 0))
        table.add_row(printable(told["name"]), f"{told['purchases']:,}", spent, rates)
    return table


def print_unbought(cleaning: Cleaning, client: str) -> None:
    """What a provider's values could add, where there was none."""
    weighing = cleaning.weighing
    if weighing is None or not weighing.expected or not weighing.expected[-1][1] > LITTLE:
        return
    cells = f"{_cells(len(weighing.doubtful))} in doubt" if weighing.doubtful else "what is left"
    out.print(
        f"Nobody was asked. Values from a provider could settle {cells}, and remove up to "
        f"{weighing.expected[-1][1]:,.1f} bits of expected error:\n"
        f"  pacas clean {client} --provider PROVIDER --budget CREDITS"
    )


def _add_weighed(table: Table, weighing: Judgement) -> None:
    table.add_row("repaired", f"{_cells(weighing.free)} by own evidence, {_cells(weighing.paid)} by what was bought")
    table.add_row("a free vote", f"would have changed {_cells(weighing.voted)}")
    if weighing.expected:
        before, after = weighing.expected[0][1], weighing.expected[-1][1]
        table.add_row("expected error", f"{before:,.1f} bits with no money, {after:,.1f} now")
    if mixed := [printable(str(rates.fd)) for rates in weighing.rates if not rates.holds]:
        table.add_row("does not hold", f"{'; '.join(mixed)}: most groups are mixed, and are taken as they are")
    if weighing.doubtful:
        written = weighing.doubtful_written
        left = len(weighing.doubtful) - written
        table.add_row("doubtful", f"{_cells(left)} left, {_cells(written)} changed; --doubtful lists them")


def print_plan(cleaning: Cleaning) -> None:
    """What a dry run would buy, in that order."""
    several = cleaning.panel is not None
    numbers = ("level", "price", "cells")
    table = plain_table("attribute", *(["provider"] if several else []), *numbers, "rows", numbers=numbers)
    for purchase in cleaning.purchases[:SHOWN]:
        table.add_row(
            printable(purchase.attribute),
            *([printable(str(purchase.provider))] if several else []),
            str(purchase.level),
            rounded_text(purchase.price),
            f"{len(purchase.rows):,}",
            _some(purchase.rows.tolist()),
        )
    if cleaning.purchases:
        out.print(table)
    if len(cleaning.purchases) > SHOWN:
        out.print(f"… and {len(cleaning.purchases) - SHOWN:,} more (all of them with --json)")
    if cleaning.unrepaired:
        out.print()
        out.print(_by_reason(cleaning.unrepaired))
    spent, budget = rounded_text(cleaning.spent_nanocredits), credits_words(cleaning.budget_nanocredits)
    out.print(
        f"\nIt would {_planned(cleaning)} for about {spent} of {budget}.\n{_foreseen(cleaning.weighing)}"
        "Nothing was paid. Prices are those of now; with each purchase later ones may fall, or be refused."
    )


def _planned(cleaning: Cleaning) -> str:
    weighing = cleaning.weighing
    if weighing is None:
        classes = {(purchase.attribute, *purchase.rows.tolist()) for purchase in cleaning.purchases}
        return f"repair {_classes(len(classes))}"
    return f"repair {_cells(weighing.free)} by own evidence, and buy {counted(len(cleaning.purchases), 'value')}"


def _foreseen(weighing: Judgement | None) -> str:
    """What the money is expected to bring, and where more of it begins to bring less."""
    if weighing is None or weighing.knee is None:
        return ""
    first, last, (spent, error) = weighing.promised[0][1], weighing.promised[-1][1], weighing.knee
    knee = f"{error:,.1f} after {credits_words(spent)}, from where on a credit brings less, "
    return f"Expected error: {first:,.1f} bits with no money, {knee if error > last else ''}{last:,.1f} after all.\n"


def _by_level(cleaning: Cleaning) -> Table:
    one_a_class = cleaning.weighing is None and cleaning.panel is None
    heads = ("level", "classes" if one_a_class else "bought", "cells changed", "spent")
    table = plain_table("attribute", *heads, numbers=heads)
    for (attribute, level), found in _grouped(cleaning.purchases, "attribute", "level"):
        repairs = {id(r): r for purchase in found if (r := cleaning.repair_of.get(purchase.key)) is not None}
        changed = sum(len(repair.written) for repair in repairs.values())
        spent = rounded_text(sum(purchase.price for purchase in found))
        table.add_row(printable(attribute), str(level), f"{len(found):,}", f"{changed:,}", spent)
    return table


def _by_reason(unrepaired: Sequence[Unrepaired]) -> Table:
    prices = any(left.cheapest is not None for left in unrepaired)
    heads = ("classes", "cells", *(["from"] if prices else []))
    table = plain_table("unrepaired", "reason", *heads, numbers=heads)
    for (attribute, reason), found in _grouped(unrepaired, "attribute", "reason"):
        cells = sum(len(left.rows) for left in found)
        cheapest = min((left.cheapest for left in found if left.cheapest is not None), default=None)
        price = [("" if cheapest is None else credits_words(cheapest))] if prices else []
        table.add_row(printable(attribute), Text(reason, style="yellow"), f"{len(found):,}", f"{cells:,}", *price)
    return table


def _grouped(found: Iterable[T], *by: str) -> list[tuple[tuple[Any, ...], list[T]]]:
    """What shares some members, by these in order."""
    key = attrgetter(*by)
    return [(shared, list(some)) for shared, some in groupby(sorted(found, key=key), key)]


def _classes(n: int) -> str:
    return counted(n, "class", "classes")


def _cells(n: int) -> str:
    return counted(n, "cell")


def _some(rows: list[int]) -> str:
    return ", ".join(map(str, rows[:8])) + (", …" if len(rows) > 8 else "")
