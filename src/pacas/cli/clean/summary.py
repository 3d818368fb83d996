"""What `pacas clean` says at its end: as JSON, and as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from pacas.cli.options import out, printable
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import BoughtValue, Repair, Unrepaired
from pacas.core.money import credits_text, credits_words, in_credits
from pacas.core.words import counted

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
        "purchases": [_purchase(p, r, dry) for p, r in zip(cleaning.purchases, cleaning.repairs, strict=True)],
        "unrepaired": [
            {"attribute": left.attribute, "rows": left.rows.tolist(), "reason": left.reason}
            | ({"price": in_credits(left.price)} if left.price else {})
            for left in cleaning.unrepaired
        ],
        "dry_run": dry,
    }


def _purchase(purchase: BoughtValue, repair: Repair, dry: bool) -> dict[str, Any]:
    return {
        "attribute": purchase.attribute,
        "rows": purchase.rows.tolist(),
        "level": purchase.level,
        "value": None if dry else purchase.value,
        "price": in_credits(purchase.price),
        "written": None if dry else repair.new,
    }


def print_summary(cleaning: Cleaning) -> None:
    """Print violations before and after, the money, repairs by attribute and level, and what is left by reason."""
    table = _grid()
    before, after = cleaning.violations_before, cleaning.violations_after
    left = Text(f"{after:,}", style="green" if after == 0 else "yellow")
    table.add_row("violations", Text.assemble(f"{before:,} → ", left))
    table.add_row(
        "spent", f"{credits_text(cleaning.spent_nanocredits)} of {credits_words(cleaning.budget_nanocredits)}"
    )
    table.add_row("repaired", f"{_classes(len(cleaning.purchases))}, {_cells(cleaning.written)} changed")
    table.add_row("unrepaired", _classes(len(cleaning.unrepaired)))
    if cleaning.flagged:
        table.add_row("to look at", f"{_cells(cleaning.flagged)} changed whose class or value is doubtful")
    if cleaning.rounds > 1:
        table.add_row("rounds", str(cleaning.rounds))
    out.print(table)
    if cleaning.purchases:
        out.print()
        out.print(_by_level(cleaning))
    if cleaning.unrepaired:
        out.print()
        out.print(_by_reason(cleaning.unrepaired))


def print_plan(cleaning: Cleaning) -> None:
    """What a dry run would buy, in that order."""
    table = Table("attribute", box=None, pad_edge=False)
    for head in ("level", "price", "cells"):
        table.add_column(head, justify="right")
    table.add_column("rows")
    for purchase in cleaning.purchases[:SHOWN]:
        table.add_row(
            printable(purchase.attribute),
            str(purchase.level),
            credits_text(purchase.price),
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
    spent, budget = credits_text(cleaning.spent_nanocredits), credits_words(cleaning.budget_nanocredits)
    out.print(
        f"\nIt would repair {_classes(len(cleaning.purchases))} for about {spent} of {budget}.\n"
        "Nothing was paid. Prices are those of now; with each purchase later ones may fall, or be refused."
    )


def _by_level(cleaning: Cleaning) -> Table:
    table = Table("attribute", box=None, pad_edge=False)
    for head in ("level", "classes", "cells changed", "spent"):
        table.add_column(head, justify="right")
    for (attribute, level), found in sorted(_grouped(cleaning).items()):
        changed = sum(len(repair.written) for _, repair in found)
        spent = credits_text(sum(purchase.price for purchase, _ in found))
        table.add_row(printable(attribute), str(level), f"{len(found):,}", f"{changed:,}", spent)
    return table


def _grouped(cleaning: Cleaning) -> dict[tuple[str, int], list[tuple[BoughtValue, Repair]]]:
    grouped: dict[tuple[str, int], list[tuple[BoughtValue, Repair]]] = {}
    for purchase, repair in zip(cleaning.purchases, cleaning.repairs, strict=True):
        grouped.setdefault((purchase.attribute, purchase.level), []).append((purchase, repair))
    return grouped


def _by_reason(unrepaired: Sequence[Unrepaired]) -> Table:
    table = Table("unrepaired", "reason", box=None, pad_edge=False)
    for head in ("classes", "cells"):
        table.add_column(head, justify="right")
    for (attribute, reason), found in sorted(_left(unrepaired)):
        cells = sum(len(left.rows) for left in found)
        table.add_row(printable(attribute), Text(reason, style="yellow"), f"{len(found):,}", f"{cells:,}")
    return table


def _left(unrepaired: Iterable[Unrepaired]) -> Iterator[tuple[tuple[str, str], list[Unrepaired]]]:
    grouped: dict[tuple[str, str], list[Unrepaired]] = {}
    for left in unrepaired:
        grouped.setdefault((left.attribute, left.reason), []).append(left)
    yield from grouped.items()


def _grid() -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    return table


def _classes(n: int) -> str:
    return counted(n, "class", "classes")


def _cells(n: int) -> str:
    return counted(n, "cell")


def _some(rows: list[int]) -> str:
    return ", ".join(map(str, rows[:8])) + (", …" if len(rows) > 8 else "")
