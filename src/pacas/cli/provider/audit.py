"""`pacas audit`: do the policies hold, by how much, what was sold to whom, and is the ledger true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.opened_provider import opened_with_engine, read_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.cli.provider.findings import COLOURS, finding_words, findings_of, leak_as_json, leak_warning, worst_leak
from pacas.cli.provider.listed_accounts import terms_as_json
from pacas.core.anonymity import Policy
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.money import in_credits, nanocredits, rounded_text
from pacas.core.rates.schedule import Schedule
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.errors import InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.formats.report.audit_page import terms_words, write_audit
from pacas.formats.report.report import check_report
from pacas.provider.audit import Audit, PolicyAudit, audit
from pacas.provider.ledger.account_change import AccountState
from pacas.provider.ledger.account_history import AccountHistory, changed_words
from pacas.provider.ledger.chain import Head, Verification, noted_head
from pacas.provider.shop.contract import KeptBack
from pacas.storage.url import read_ledger, state_file
from pacas.wire.connection_file import moment

UNTRUE = "nothing else was looked at: it would follow from a ledger that does not hold"
CUT = 10
"""Margins from here on share a line."""
WIDTH = 40
"""Characters of the longest bar."""

Document = Mapping[str, Any]


@chooses_an_engine
def command(
    provider: ProviderArgument,
    head: Annotated[
        str | None, typer.Option(metavar="ENTRIES:HASH", help="A head noted earlier: the history must still have it.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page on it all, to read in a browser, offline.")
    ] = None,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Check the policies, the sales and the ledger, everything derived anew from the ledger's entries.

    Exit code 0: all holds; 1: a policy, a payment, an account or the ledger does not.

    JSON: holds, rows, neighbours, total, policies (x, y, levels, k, criterion, asks, allow_linkage, groups,
    unlinked_rows, margins, holds; with sealed quotes also keep, scope, kept_back, safe_levels, open_rows), reserve
    (with sealed quotes), sales (buyer, attribute, level, purchases, spent), buyers (buyer, purchases, spent,
    due, surviving, listed: list credits, paid_as_due, terms: as of pacas account list, up to the last entry),
    accounts (account, follows: the accounts that are kept follow from the entries, beyond: purchases that it could not
    have made as it was then, changes: entry, time, spent by then, before, after, says),
    ledger (verified, entries, head, problem, first_bad_entry), warnings, leak (as of
    pacas leak, of the attribute that free quotes tell most of; null where they are sealed, or the relation
    stays on the engine), findings (as of
    pacas lint)

    Example: pacas audit provider.toml --report audit.html
    """
    given = None if head is None else _head(head)
    file = read_provider(provider)
    noted = _noted(file) if given is None else given
    if report is not None:
        check_report(report)
    verified = _verified_ledger(file, noted)
    if verified is not None and not verified.holds:
        document = _broken(verified)
    else:
        with opened_with_engine(file, engine, read_only=True) as (opened, asked):
            worst = worst_leak(file, opened, asked)
            document = {
                **as_json(audit(opened, noted), opened.till.schedule),
                "leak": None if worst is None else leak_as_json(worst),
                "findings": [finding.as_json() for finding in findings_of(file, opened, asked)],
            }
    leak = leak_warning(file, document.get("leak"))
    if report is not None:
        kept = [_kept_words(policy, document["rows"]) for policy in document["policies"]]
        write_audit(report, document, subject=file.path.name, warnings=_warnings(document, leak), kept=kept)
    if json:
        print_json(document)
    else:
        print_audit(document, leak)
        if report is not None:
            out.print(f"\n{report} written; open it in a browser.")
    raise typer.Exit(0 if document["holds"] else 1)


def as_json(found: Audit, standing: Schedule) -> dict[str, Any]:
    """The whole audit; money in credits."""
    return {
        "holds": found.holds,
        **({} if found.reserve is None else {"reserve": found.reserve.value}),
        "rows": found.rows,
        "neighbours": found.neighbours,
        "total": in_credits(found.total),
        "policies": [_policy(policy) for policy in found.policies],
        "sales": [
            {
                "buyer": sold.buyer,
                "attribute": sold.attribute,
                "level": sold.level,
                "purchases": sold.purchases,
                "spent": in_credits(sold.spent),
            }
            for sold in found.sales
        ],
        "buyers": [
            {
                "buyer": name,
                "purchases": buyer.purchases,
                "spent": in_credits(buyer.spent),
                "due": in_credits(buyer.due),
                "listed": in_credits(buyer.listed),
                "paid_as_due": buyer.is_paid,
                "terms": terms_as_json(buyer.tab, standing),
                "surviving": buyer.surviving,
            }
            for name, buyer in found.buyers.items()
        ],
        "accounts": [_account(name, account) for name, account in found.accounts.items()],
        "ledger": _ledger(found.ledger),
        "warnings": list(found.warnings),
    }


def _account(name: str, found: AccountHistory) -> dict[str, Any]:
    changes = [
        {
            "entry": step.sequence,
            "time": None if step.change.time is None else moment(step.change.time),
            "spent": in_credits(step.spent),
            "before": None if step.change.before is None else _state(step.change.before),
            "after": _state(step.change.after),
            "says": changed_words(step.change),
        }
        for step in found.steps
    ]
    return {"account": name, "follows": found.problem is None, "beyond": found.beyond, "changes": changes}


def _state(state: AccountState) -> dict[str, Any]:
    """An account as an entry says it; nothing of its tokens but when they end."""
    return {
        "role": state.role.value,
        "credit": None if state.credit is None else in_credits(state.credit),
        "revoked": state.revoked,
        "quotes_per_minute": state.quotes_per_minute,
        "expires": None if state.expires is None else moment(state.expires),
    }


def _policy(found: PolicyAudit) -> dict[str, Any]:
    return {
        "x": list(found.policy.x),
        "y": list(found.policy.y),
        "levels": found.policy.y_levels,
        "k": found.policy.k,
        "criterion": found.policy.must_hold.written,
        "asks": found.policy.asks,
        "allow_linkage": found.policy.allow_linkage,
        "groups": found.groups,
        "unlinked_rows": found.unlinked_rows,
        "margins": [{"margin": margin, "groups": groups} for margin, groups in found.margins.items()],
        "holds": found.holds,
        **({} if found.kept_back is None else _kept_back(found.policy, found.kept_back)),
    }


def _kept_back(policy: Policy, found: KeptBack) -> dict[str, Any]:
    return {
        "keep": policy.keep,
        "scope": policy.scope,
        "kept_back": found.rows,
        "safe_levels": {attribute: list(levels) for attribute, levels in found.safe_levels.items()},
        "open_rows": found.open_rows,
    }


def _ledger(found: Verification) -> dict[str, Any]:
    return {
        "verified": found.holds,
        "entries": found.head.entries,
        "head": found.head.hash,
        "problem": found.problem,
        "first_bad_entry": found.first_bad,
    }


def _broken(found: Verification) -> dict[str, Any]:
    """An audit of a ledger that does not hold: nothing else is said, as all of it would follow from the ledger."""
    nothing: dict[str, Any] = {"policies": [], "sales": [], "buyers": [], "accounts": []}
    return {"holds": False, **nothing, "ledger": _ledger(found), "warnings": [UNTRUE]}


def _verified_ledger(file: ProviderFile, noted: Head | None) -> Verification | None:
    """Whether the ledger holds, before a provider is made from it; None if there is none yet, or it is in memory."""
    found = read_ledger(file.ledger_url, file.folder)
    if found is None:
        return None
    with closing(found) as ledger:
        return ledger.verify(noted)


def _noted(file: ProviderFile) -> Head | None:
    """The head that the state file says; until the first sale a ledger may have begun anew."""
    state = state_file(file.ledger_url, file.folder)
    head = None if state is None else state.head()
    return head if head is not None and head.entries > 1 else None


def _head(text: str) -> Head:
    found = noted_head(text)
    if found is None:
        raise InputError("--head takes ENTRIES:HASH, as pacas audit prints it")
    return found


# ---- for people ----------------------------------------------------------------------------------------------------


def print_audit(found: Document, leak: str | None = None) -> None:
    """The audit, and what free quotes tell."""
    for warning in _warnings(found, leak):
        out.print(Text(f"warning: {printable(warning)}", style="bold red"))
    if "rows" in found:
        quotes = "sealed quotes" if "reserve" in found else f"{found['neighbours']:,} neighbours"
        out.print(f"{found['rows']:,} rows, {quotes}, {_money(found['total'])} credits in all")
    for number, policy in enumerate(found["policies"], start=1):
        _print_policy(number, policy)
        for words in _kept_words(policy, found["rows"]):
            out.print(printable(words))
    if "rows" in found:
        _print_sales(found["sales"])
        _print_buyers(found["buyers"], has_neighbours="reserve" not in found)
        _print_accounts(found["accounts"])
        _print_findings(found["findings"])
    _print_ledger(found["ledger"])


def _warnings(found: Document, leak: str | None) -> list[str]:
    return [*found["warnings"], *([leak] if leak is not None and "rows" in found else ())]


def _print_findings(findings: Sequence[Document]) -> None:
    """What the linter found: a line each."""
    if findings:
        out.print("\nto mend, as pacas lint says in full")
    for finding in findings:
        out.print(Text.assemble((f"{finding['severity']:<8}", COLOURS[finding["severity"]]), finding_words(finding)))


def _print_policy(number: int, policy: Document) -> None:
    out.print(Text.assemble("\n", printable(f"policy {number}: {policy['asks']}: "), _verdict(policy["holds"])))
    if policy["unlinked_rows"]:
        out.print(f"{policy['unlinked_rows']:,} rows have a null in X and belong to no group")
    in_all = counted(policy["groups"], "group")
    if policy["criterion"]["name"] != DistinctValues.name:
        short = sum(margin["groups"] for margin in policy["margins"] if margin["margin"] < 0)
        out.print(f"{in_all}, {short:,} of them with too few rows that it holds for")
        return
    out.print(f"{in_all}, by how many values they show beyond the {policy['k']} they need:")
    for label, groups, bar in bars(policy["margins"]):
        style = "red" if label.startswith("-") else "yellow" if label == "0" else "green"
        out.print(Text.assemble(f"{label:>5}  ", (bar, style), f"{' ' if bar else ''}{groups:,}"))


def _kept_words(policy: Document, rows: int) -> list[str]:
    """What a policy keeps back of so many rows, where quotes are sealed."""
    if "kept_back" not in policy:
        return []
    return list(KeptBack(policy["kept_back"], policy["safe_levels"], policy["open_rows"]).words(rows))


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
    heads = ("level", "purchases", "spent")
    table = plain_table("buyer", "attribute", *heads, numbers=heads, title="sales")
    for sold in sales:
        numbers = (str(sold["level"]), f"{sold['purchases']:,}", _money(sold["spent"]))
        table.add_row(printable(sold["buyer"]), printable(sold["attribute"]), *numbers)
    out.print()
    out.print(table)


def _print_buyers(buyers: Sequence[Document], has_neighbours: bool) -> None:
    if not buyers:
        return
    has_rates = any(buyer["listed"] != buyer["spent"] for buyer in buyers)
    has_terms = any(buyer["terms"] is not None for buyer in buyers)
    heads = (
        "purchases",
        *(["list credits"] if has_rates else ()),
        "spent",
        "due",
        *(["neighbours left"] if has_neighbours else ()),
    )
    table = plain_table("buyer", *heads, *(["terms"] if has_terms else ()), numbers=heads, title="buyers")
    for buyer in buyers:
        terms = [terms_words(buyer["terms"])] if has_terms else []
        due = Text(_money(buyer["due"]), style="" if buyer["paid_as_due"] else "bold red")
        listed = [_money(buyer["listed"])] if has_rates else []
        left = [f"{buyer['surviving']:,}"] if has_neighbours else []
        table.add_row(
            printable(buyer["buyer"]), f"{buyer['purchases']:,}", *listed, _money(buyer["spent"]), due, *left, *terms
        )
    out.print()
    out.print(table)


def _print_accounts(accounts: Sequence[Document]) -> None:
    """What has become of each account since the first sale."""
    if not any(account["changes"] for account in accounts):
        return
    numbers = ("entry", "spent by then")
    table = plain_table("account", "entry", "time", "spent by then", "change", numbers=numbers, title="accounts")
    for account in accounts:
        for change in account["changes"]:
            when = "" if change["time"] is None else change["time"][:16].replace("T", " ")
            shown = (f"{change['entry']:,}", when, _money(change["spent"]), printable(change["says"]))
            table.add_row(printable(account["account"]), *shown)
    out.print()
    out.print(table)


def _print_ledger(ledger: Document) -> None:
    out.print()
    if ledger["verified"]:
        out.print(
            Text.assemble("ledger: ", ("verified", "green"), f", {counted(ledger['entries'], 'entry', 'entries')}")
        )
        out.print(f"its head, to note elsewhere and give with --head: {ledger['entries']}:{ledger['head']}")
        return
    out.print(Text.assemble("ledger: ", ("does not hold", "bold red"), f": {ledger['problem']}"))
    out.print(f"{counted(ledger['entries'], 'entry', 'entries')} before that hold; nothing was changed")


def _verdict(holds: bool) -> tuple[str, str]:
    return ("holds", "green") if holds else ("does not hold", "bold red")


def _money(credits: float) -> str:
    return rounded_text(nanocredits(credits))
