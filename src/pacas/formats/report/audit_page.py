"""An audit as one page of HTML, from what `pacas audit` says of it: no value of the provider's is among that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pacas.core.money import nanocredits, rounded_text
from pacas.core.words import counted
from pacas.formats.replacing import replacing
from pacas.formats.report.html import Bar, Card, cards, html_page, section, table

Document = Mapping[str, Any]
"""A part of the audit, as JSON has it."""


def write_audit(
    path: Path, found: Document, *, subject: str, warnings: Sequence[str], kept: Sequence[Sequence[str]]
) -> None:
    """Write the page; `subject` is the provider's file, `kept` are lines on what each policy keeps back."""
    page = audit_page(found, subject=subject, warnings=warnings, kept=kept)
    with replacing(path) as partial:
        partial.write_text(page, "utf-8", newline="\n")


def audit_page(found: Document, *, subject: str, warnings: Sequence[str], kept: Sequence[Sequence[str]]) -> str:
    """The page's text."""
    held = "All that was checked holds." if found["holds"] else "Not all that was checked holds."
    return html_page(title=f"Audit: {subject}", lead=held, sections=_sections(found, warnings, kept))


def _sections(found: Document, warnings: Sequence[str], kept: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _cards(found)
    if warnings:
        yield section("Warnings", _list(warnings))
    for number, (policy, lines) in enumerate(zip(found["policies"], kept, strict=True), start=1):
        yield _policy(number, policy, lines)
    if "rows" in found:
        yield _sales(found["sales"])
        yield _buyers(found["buyers"])
        yield _findings(found["findings"])
    yield _ledger(found["ledger"])


def _cards(found: Document) -> str:
    ledger = found["ledger"]
    broken = [policy for policy in found["policies"] if not policy["holds"]]
    shown = [
        Card("Audit", "holds" if found["holds"] else "does not hold", "policies, payments, ledger", not found["holds"])
    ]
    if "rows" in found:
        quotes = "sealed quotes" if "reserve" in found else f"{found['neighbours']:,} neighbours"
        spent = sum(nanocredits(buyer["spent"]) for buyer in found["buyers"])
        purchases = counted(sum(buyer["purchases"] for buyer in found["buyers"]), "purchase")
        shown += [
            Card("Rows", f"{found['rows']:,}", quotes),
            Card("Policies", f"{len(found['policies']):,}", f"{len(broken):,} of them do not hold", bool(broken)),
            Card("Sold", rounded_text(spent), f"of {_money(found['total'])} credits; {purchases}"),
        ]
    verified = "verified" if ledger["verified"] else "does not hold"
    entries = counted(ledger["entries"], "entry", "entries")
    return cards(*shown, Card("Ledger", verified, entries, not ledger["verified"]))


def _policy(number: int, policy: Document, lines: Sequence[str]) -> str:
    rows = [(str(m["margin"]), m["groups"], Bar(m["groups"] / policy["groups"])) for m in policy["margins"]]
    needs = f"{policy['asks']}: {'holds' if policy['holds'] else 'does not hold'} in {policy['groups']:,} groups."
    unlinked = f" {policy['unlinked_rows']:,} rows have a null in X." if policy["unlinked_rows"] else ""
    told = _note(needs + unlinked) + "".join(map(_note, lines))
    heads = ("Values beyond what is needed", "Groups", "Share")
    return section(f"Policy {number}", told + table(heads, rows, empty="It has no group."))


def _sales(sales: Sequence[Document]) -> str:
    rows = [(s["buyer"], s["attribute"], s["level"], s["purchases"], _money(s["spent"])) for s in sales]
    return section(
        "Sales", table(("Buyer", "Attribute", "Level", "Purchases", "Spent"), rows, empty="Nothing was sold.")
    )


def _buyers(buyers: Sequence[Document]) -> str:
    rows = [
        (b["buyer"], b["purchases"], _money(b["spent"]), _money(b["due"]), "yes" if b["spent"] == b["due"] else "no")
        for b in buyers
    ]
    return section(
        "Buyers", table(("Buyer", "Purchases", "Spent", "Due", "Paid as due"), rows, empty="Nobody has bought.")
    )


def _findings(findings: Sequence[Document]) -> str:
    rows = [(f["rule"], f["severity"], f["attribute"], f["people"], f["says"], f["remedy"]) for f in findings]
    heads = ("Rule", "Severity", "Attribute", "People", "Says", "Remedy")
    return section("To mend", table(heads, rows, empty="The linter finds nothing."))


def _ledger(ledger: Document) -> str:
    if not ledger["verified"]:
        return section(
            "Ledger", _note(f"It does not hold: {ledger['problem']}. {ledger['entries']:,} entries before do.")
        )
    head = f"{ledger['entries']}:{ledger['head']}"
    return section("Ledger", _note(f"Every entry is as it was written. Its head, to note elsewhere: {head}"))


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _note(line: str) -> str:
    return f"<p>{escape(line)}</p>"


def _money(credits: float) -> str:
    return rounded_text(nanocredits(credits))
