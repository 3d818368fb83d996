"""What an operator should look at: each in one line, the worst first, with the page that says more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pacas.console.figures import Figures, Verified
from pacas.console.refusal_counts import by_account
from pacas.core.money import rounded_text
from pacas.core.words import counted
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.refusals import RefusalCount
from pacas.provider.lint.finding import who

NEARLY = 0.9
"""The share of its credit from which on an account has nearly spent it."""
BAD, WARN = "bad", "warn"


class Alert(NamedTuple):
    """One line, and where more is said."""

    kind: str
    text: str
    page: str


def alerts(
    figures: Figures | None,
    verified: Verified | None,
    accounts: Sequence[Account],
    totals: Mapping[str, Total],
    lately: Sequence[RefusalCount],
    problem: str | None = None,
) -> list[Alert]:
    """All that there is to look at; `lately` are the refusals of the last day, `problem` is that of the ledger."""
    found = [*_ledger(verified, problem), *_credits(accounts, totals), *_turned_away(lately)]
    if figures is not None:
        found += [*_policies(figures), *_payments(figures), *_findings(figures)]
    return sorted(found, key=lambda alert: alert.kind != BAD)


def _ledger(verified: Verified | None, problem: str | None) -> Iterator[Alert]:
    wrong = problem if verified is None or verified.found.holds else verified.found.problem
    if wrong is not None:
        yield Alert(BAD, f"The ledger does not hold: {wrong}.", "/ledger")


def _policies(figures: Figures) -> Iterator[Alert]:
    for number, policy in enumerate(figures.audit.policies, start=1):
        short = sum(groups for margin, groups in policy.margins.items() if margin < 0)
        if short:
            yield Alert(BAD, f"Policy {number} does not hold: {counted(short, 'group')} short.", "/policies")
        if at_bound := policy.margins.get(0, 0):
            text = (
                f"Policy {number}: {counted(at_bound, 'group')} of {policy.groups:,} at the bound, with no margin left."
            )
            yield Alert(WARN, text, "/policies")
    for warning in figures.audit.warnings:
        yield Alert(BAD, f"{warning[0].upper()}{warning[1:]}.", "/policies")


def _payments(figures: Figures) -> Iterator[Alert]:
    wrong = [name for name, buyer in figures.audit.buyers.items() if not buyer.is_paid]
    if wrong:
        yield Alert(BAD, f"{counted(len(wrong), 'buyer')} did not pay what the purchases must have cost.", "/accounts")


def _findings(figures: Figures) -> Iterator[Alert]:
    if figures.found.leak is not None:
        yield Alert(BAD, f"{figures.found.leak[0].upper()}{figures.found.leak[1:]}.", "/stock")
    found = [one for one in figures.found.findings if one.rule != "free-quotes-tell"]  # which is said in full
    for finding in found:
        if finding.severity == "error":
            people = counted(finding.people, *who(finding.about))
            yield Alert(BAD, f"The linter: {finding.rule}: {finding.attribute}, {people}.", "#to-mend")
    warnings = [finding for finding in found if finding.severity == "warning"]
    if warnings:
        rules = ", ".join(sorted({finding.rule for finding in warnings}))
        yield Alert(WARN, f"The linter has {counted(len(warnings), 'warning')}: {rules}.", "#to-mend")


def _credits(accounts: Sequence[Account], totals: Mapping[str, Total]) -> Iterator[Alert]:
    for account in accounts:
        spent = totals.get(account.name, Total()).spent
        if account.credit and not account.revoked and spent >= NEARLY * account.credit:
            left = rounded_text(max(0, account.credit - spent))
            yield Alert(WARN, f"{account.name} has {left} of {rounded_text(account.credit)} credits left.", "/accounts")


def _turned_away(lately: Sequence[RefusalCount]) -> Iterator[Alert]:
    for account, reasons in sorted(by_account(lately).items()):
        if unknown := reasons["unauthorized"]:
            yield Alert(
                WARN, f"{counted(unknown, 'call')} without a valid token in the last 24 hours (401).", "#refusals"
            )
        if often := reasons["rate_limited"]:
            yield Alert(
                WARN, f"{account}: {counted(often, 'call')} over its rate in the last 24 hours (429).", "/accounts"
            )
