"""An audit as one page of HTML, from what `pacas audit` says of it: no value of the provider's is among that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pacas.core.money import nanocredits, rounded_text
from pacas.core.rates.schedule import Schedule
from pacas.core.words import counted
from pacas.formats.replacing import replacing
from pacas.pages.environment import page_environment, standalone_page
from pacas.pages.pieces import Bar, Card

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
    return standalone_page(
        page_environment(__package__),
        "audit.html",
        subject=subject,
        found=found,
        warnings=warnings,
        cards=_cards(found),
        policies=[_policy(policy, lines) for policy, lines in zip(found["policies"], kept, strict=True)],
        sold=_sold(found) if "rows" in found else None,
    )


def _cards(found: Document) -> list[Card]:
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
    return [*shown, Card("Ledger", verified, entries, not ledger["verified"])]


def _policy(policy: Document, kept: Sequence[str]) -> Document:
    """What a policy asks and keeps back, in lines, and its groups by what they have beyond it."""
    needs = f"{policy['asks']}: {'holds' if policy['holds'] else 'does not hold'} in {policy['groups']:,} groups."
    unlinked = f" {policy['unlinked_rows']:,} rows have a null in X." if policy["unlinked_rows"] else ""
    margins = [(str(m["margin"]), m["groups"], Bar(m["groups"] / policy["groups"])) for m in policy["margins"]]
    return {"lines": [needs + unlinked, *kept], "margins": margins}


def _sold(found: Document) -> Document:
    """What was sold, to whom, and what the linter says of it."""
    sales = [(s["buyer"], s["attribute"], s["level"], s["purchases"], _money(s["spent"])) for s in found["sales"]]
    buyers = [
        (
            b["buyer"],
            b["purchases"],
            _money(b["listed"]),
            _money(b["spent"]),
            _money(b["due"]),
            "yes" if b["paid_as_due"] else "no",
            terms_words(b["terms"]),
        )
        for b in found["buyers"]
    ]
    findings = [
        (f["rule"], f["severity"], f["attribute"], f["people"], f["says"], f["remedy"]) for f in found["findings"]
    ]
    accounts = [
        (a["account"], c["entry"], (c["time"] or "")[:16].replace("T", " "), _money(c["spent"]), c["says"])
        for a in found["accounts"]
        for c in a["changes"]
    ]
    return {"sales": sales, "buyers": buyers, "accounts": accounts, "findings": findings}


def terms_words(told: Document | None) -> str:
    """The terms that a buyer has accepted: its rates, and what is prepaid."""
    if told is None:
        return ""
    rates = Schedule.of((step["above"], step["per_cent"]) for step in told["schedule"]).words()
    prepaid = f", {_money(told['prepaid'])} prepaid" if told["prepaid"] else ""
    return f"{rates}{prepaid}" + (f", until {told['until'][:10]}" if told["until"] else "")


def _money(credits: float) -> str:
    return rounded_text(nanocredits(credits))
