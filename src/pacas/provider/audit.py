"""What an auditor wants to know: do the policies hold, by how much, what was sold to whom, and is the ledger true?

Everything is derived anew from the ledger: what each buyer's purchases have ruled out, and so what they must have paid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from pacas.core.anonymity import Policy
from pacas.core.money import credits_words, rounded_text
from pacas.core.notebook import html_lines
from pacas.core.rates.tab import Tab
from pacas.core.words import counted
from pacas.provider.ledger.account_history import AccountHistory, account_histories
from pacas.provider.ledger.chain import Head, Verification
from pacas.provider.ledger.entry import Entry, Purchase, put_on_tab
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import PAPER_QUOTES, QuoteMode
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.shop.contract import CountedGroups, CountedSales, CountedShop, KeptBack
from pacas.provider.shop.x_groups import GroupsBehind
from pacas.provider.terms import HistoryScope, linking_columns


@dataclass(frozen=True, slots=True)
class PolicyAudit:
    """A policy, and how many X-groups are how far above their bound: margin → groups."""

    policy: Policy
    groups: int
    unlinked_rows: int
    margins: Mapping[int, int]
    """0 is a group that shows k values and no more; −1 also one that another criterion does not hold for. With what all
    buyers' purchases together have left; with `history = "per_buyer"`, with what those of each buyer alone have left,
    whoever has left least."""
    kept_back: KeptBack | None
    """Where quotes are sealed."""
    behind: GroupsBehind = field(repr=False, compare=False)
    """Which groups these are, as of the entries that were audited."""

    @property
    def holds(self) -> bool:
        return all(margin >= 0 for margin in self.margins)


@dataclass(frozen=True, slots=True)
class BuyerAudit:
    """What a buyer has bought and paid, and what it leaves of the support set. Money in nanocredits."""

    purchases: int
    spent: int
    due: int
    """What the purchases must have cost together, by the list, the schedule of rates and the terms of the buyer."""
    surviving: int
    """Neighbours that they have left."""
    listed: int = 0
    """W: what they cost together by the list, as the entries say."""
    list_due: int = 0
    """What they must have cost by the list: the weight of the neighbours that they have ruled out."""
    tab: Tab = field(default=Tab(), repr=False)
    """The terms that it has accepted, up to the last entry."""

    @property
    def is_paid(self) -> bool:
        """Have all purchases cost what they must?"""
        return self.spent == self.due and self.listed == self.list_due


@dataclass(frozen=True, slots=True)
class AuditedSales:
    """Purchases of one attribute at one level by one buyer."""

    buyer: str
    attribute: str
    level: int
    purchases: int
    spent: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The state of a provider."""

    reserve: Reserve | None
    """Which rows policies keep back; None where quotes are the paper's. Where it is given, there are no neighbours."""
    rows: int
    neighbours: int
    total: int
    policies: tuple[PolicyAudit, ...]
    """None, like all that follows from purchases, where the ledger is not true."""
    buyers: Mapping[str, BuyerAudit]
    sales: tuple[AuditedSales, ...]
    ledger: Verification
    warnings: tuple[str, ...]
    """What its owner should see in red."""
    accounts: Mapping[str, AccountHistory]
    """What has become of each account since the first sale."""

    @property
    def holds(self) -> bool:
        """Nothing is wrong; what its owner has allowed (`warnings`) is not wrong."""
        paid = all(buyer.is_paid for buyer in self.buyers.values())
        told = all(account.problem is None for account in self.accounts.values())
        return self.ledger.holds and paid and told and all(policy.holds for policy in self.policies)

    def _ledger_words(self) -> str:
        head = self.ledger.head
        held = "holds" if self.ledger.holds else f"does not hold: {self.ledger.problem}"
        return f"{counted(head.entries, 'entry', 'entries')}, {held}; head {head.entries}:{head.hash}"

    def _repr_html_(self) -> str:
        """A few lines: names, counts and money, and no value."""
        spent = sum(buyer.spent for buyer in self.buyers.values())
        sold = f"{credits_words(spent)} of {rounded_text(self.total)}, to {counted(len(self.buyers), 'buyer')}"
        lines = [("rows", f"{self.rows:,}"), ("sold", sold), ("ledger", self._ledger_words())]
        for number, policy in enumerate(self.policies, start=1):
            least = min(policy.margins, default=None)
            held = "holds" if policy.holds else "does not hold"
            margin = "" if least is None else f"; least margin {least} in {policy.margins[least]:,}"
            lines.append((f"policy {number}", f"{held} in {counted(policy.groups, 'group')}{margin}"))
        lines += [("warning", warning) for warning in self.warnings]
        return html_lines(f"Audit: {'holds' if self.holds else 'does not hold'}", lines)


def audit(provider: Provider, noted: Head | None = None) -> Audit:
    """Derive everything from the ledger again; `noted` is a head that was written down earlier."""
    shop = provider.shop
    entries: list[Entry] = []
    verification = provider.ledger.verify(noted, entries.append)
    told = [entry.about_buyer for entry in entries[1:]] if verification.holds else []
    accounts = account_histories(entries, verification.accounts) if verification.holds else {}
    purchases = [one for one in told if isinstance(one, Purchase)]
    sales = _sales(purchases)
    tabs: dict[str, Tab] = {}
    for one in told:
        put_on_tab(tabs, one)
    shown = shop.count_sales(purchases)
    of_buyer = {buyer: list(mine) for buyer, mine in groupby(sales, key=lambda sale: sale.buyer)}
    return Audit(
        None if shop.terms.sealing is None else shop.terms.sealing.reserve,
        shop.rows,
        shop.neighbours,
        shop.total,
        tuple(map(_policy, shop.terms.policies, shown.groups)) if verification.holds else (),
        {buyer: _buyer(provider, found, of_buyer[buyer], tabs[buyer]) for buyer, found in shown.sales.items()}
        | {buyer: BuyerAudit(0, 0, 0, shop.neighbours, tab=tabs[buyer]) for buyer in tabs.keys() - shown.sales.keys()},
        sales,
        verification,
        (*_warnings(provider, shown), *_account_warnings(accounts)),
        accounts,
    )


def _sales(purchases: Sequence[Purchase]) -> tuple[AuditedSales, ...]:
    count, spent = Counter[tuple[str, str, int]](), Counter[tuple[str, str, int]]()
    for purchase in purchases:
        key = (purchase.buyer, purchase.request.attribute, purchase.request.level)
        count[key] += 1
        spent[key] += purchase.price
    return tuple(AuditedSales(*key, count[key], spent[key]) for key in sorted(count))


def _buyer(provider: Provider, found: CountedSales, sales: Sequence[AuditedSales], tab: Tab) -> BuyerAudit:
    purchases, spent = sum(s.purchases for s in sales), sum(s.spent for s in sales)
    left = provider.shop.neighbours - found.ruled_out
    return BuyerAudit(purchases, spent, tab.due(provider.till.schedule, found.due), left, tab.listed, found.due, tab)


def _policy(policy: Policy, found: CountedGroups) -> PolicyAudit:
    margins = dict(sorted(found.margins.items()))
    return PolicyAudit(policy, found.groups, found.unlinked_rows, margins, found.kept_back, found.behind)


def _account_warnings(accounts: Mapping[str, AccountHistory]) -> Iterator[str]:
    for name, account in accounts.items():
        if account.problem is not None:
            yield f"the account {name}: {account.problem}"
        if account.beyond:
            bought = counted(account.beyond, "purchase")
            yield f"the account {name}: {bought} beyond the credit that the ledger says it had then, or while revoked"
    if waiting := sum(not account.steps and account.problem is None for account in accounts.values()):
        yield f"{counted(waiting, 'account')} of an earlier release: entered when the provider is next opened to sell"


def _warnings(provider: Provider, counted: CountedShop) -> Iterator[str]:
    terms = provider.shop.terms
    if terms.quotes is QuoteMode.PAPER:
        yield PAPER_QUOTES
    if provider.seed_is_given:
        yield "the seed is given, and whoever guesses it knows the support set; leave it out, and it is a random secret"
    if not terms.policies and terms.about == "people":
        yield "there is no policy: everything is safe to sell"
    if terms.history is HistoryScope.PER_BUYER:
        short = sum(found.short_together for found in counted.groups)
        yield (
            'history = "per_buyer": buyers who pool what they bought may learn more than a policy allows'
            + (f"; with all purchases so far pooled, {short:,} X-groups are short" if short else "")
        )
    for number, policy in enumerate(terms.policies, start=1):
        for attribute in policy.y:
            beyond = linking_columns(terms.match[attribute], policy) if attribute in terms.match else []
            if beyond:
                yield (
                    f"policy {number} allows linkage: {attribute} is found by {', '.join(beyond)}, outside X, so a "
                    "buyer can single out one person in an X-group"
                )
    if provider.shop.is_short:
        yield "the support set shows too few values for a policy, so everything is refused"
