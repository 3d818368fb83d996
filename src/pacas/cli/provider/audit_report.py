"""An audit, for people: policies with their margins drawn, sales, buyers, the ledger, and warnings in red."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from pacas.cli.options import out, printable
from pacas.core.money import credits_text, nanocredits

CUT = 10
"""Margins from here on share a line."""
WIDTH = 40
"""Characters of the longest bar."""

Document = Mapping[str, Any]


def print_audit(found: Document) -> None:
    for warning in found["warnings"]:
        out.print(Text(f"warning: {printable(warning)}", style="bold red"))
    if "rows" in found:
        out.print(
            f"{found['rows']:,} rows, {found['neighbours']:,} neighbours, {_money(found['total'])} credits in all"
        )
    for number, policy in enumerate(found["policies"], start=1):
        _print_policy(number, policy)
    if "rows" in found:
        _print_sales(found["sales"])
        _print_buyers(found["buyers"])
    _print_ledger(found["ledger"])


def _print_policy(number: int, policy: Document) -> None:
    y = ", ".join(f"{attribute} at level {level}" for attribute, level in policy["levels"].items())
    says = f"policy {number}: ({', '.join(policy['x'])}) linked to at least {policy['k']} of {y}: "
    out.print(Text.assemble("\n", printable(says), _verdict(policy["holds"])))
    if policy["unlinked_rows"]:
        out.print(f"{policy['unlinked_rows']:,} rows have a null in X and belong to no group")
    out.print(f"{_plural(policy['groups'], 'group')}, by how many values they show beyond the {policy['k']} they need:")
    for label, groups, bar in bars(policy["margins"]):
        style = "red" if label.startswith("-") else "yellow" if label == "0" else "green"
        out.print(Text.assemble(f"{label:>5}  ", (bar, style), f"{' ' if bar else ''}{groups:,}"))


def bars(margins: Sequence[Document]) -> Iterator[tuple[str, int, str]]:
    """A line per margin: its label, its groups, and a bar as long as their share; far ones together at the end.

    >>> [(label, len(bar)) for label, groups, bar in bars([{"margin": 0, "groups": 1}, {"margin": 12, "groups": 4}])]
    [('0', 10), ('10+', 40)]
    """
    near = {m["margin"]: m["groups"] for m in margins if m["margin"] < CUT}
    far = sum(m["groups"] for m in margins if m["margin"] >= CUT)
    lines = [(str(margin), groups) for margin, groups in near.items()] + ([(f"{CUT}+", far)] if far else [])
    most = max((groups for _, groups in lines), default=1)
    for label, groups in lines:
        yield label, groups, "█" * max(round(WIDTH * groups / most), 1)


def _print_sales(sales: Sequence[Document]) -> None:
    if not sales:
        out.print("\nnothing has been sold")
        return
    table = Table("buyer", "attribute", box=None, pad_edge=False, title="sales", title_justify="left")
    for head in ("level", "purchases", "spent"):
        table.add_column(head, justify="right")
    for sold in sales:
        numbers = (str(sold["level"]), f"{sold['purchases']:,}", _money(sold["spent"]))
        table.add_row(printable(sold["buyer"]), printable(sold["attribute"]), *numbers)
    out.print()
    out.print(table)


def _print_buyers(buyers: Sequence[Document]) -> None:
    if not buyers:
        return
    table = Table("buyer", box=None, pad_edge=False, title="buyers", title_justify="left")
    for head in ("purchases", "spent", "due", "neighbours left"):
        table.add_column(head, justify="right")
    for buyer in buyers:
        wrong = buyer["spent"] != buyer["due"]
        due = Text(_money(buyer["due"]), style="bold red" if wrong else "")
        numbers = (f"{buyer['purchases']:,}", _money(buyer["spent"]), due, f"{buyer['surviving']:,}")
        table.add_row(printable(buyer["buyer"]), *numbers)
    out.print()
    out.print(table)


def _print_ledger(ledger: Document) -> None:
    out.print()
    if ledger["verified"]:
        out.print(
            Text.assemble("ledger: ", ("verified", "green"), f", {_plural(ledger['entries'], 'entry', 'entries')}")
        )
        out.print(f"its head, to note elsewhere and give with --head: {ledger['entries']}:{ledger['head']}")
        return
    out.print(Text.assemble("ledger: ", ("does not hold", "bold red"), f": {ledger['problem']}"))
    out.print(f"{_plural(ledger['entries'], 'entry', 'entries')} before that hold; nothing was changed")


def _verdict(holds: bool) -> tuple[str, str]:
    return ("holds", "green") if holds else ("does not hold", "bold red")


def _money(credits: float) -> str:
    return credits_text(nanocredits(credits))


def _plural(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
