"""Where requests are judged and what has been sold is known: over a relation in memory, or over one on the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

from pacas.core.query import GeneralizedQuery
from pacas.core.rates.tab import Tab, plain_tab, tab_of
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.provider.ledger.account_change import AccountChange
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import NOTHING_BOUGHT, AboutBuyer, AcceptedTerms, Purchase, put_on_tab
from pacas.provider.quoter.price_lists import PriceLists
from pacas.provider.shop.x_groups import GroupsBehind
from pacas.provider.terms import Terms

Tell = Callable[[str], None]
"""Is told what is being done."""

Kept = dict[str, Any]
"""What has been taken in, in values that JSON has."""

BYTES_OF_A_CELL = 8
"""What a relation takes in memory."""
FEW = 1 << 18
"""Rows up to which a relation is held anyway, if it can only be sold from so."""


class Priced(Protocol):
    """A request that may be answered."""

    @property
    def price(self) -> int: ...


S = TypeVar("S", bound=Priced)


class RecordedSales(ABC):
    """The ledger's entries that have been taken in: how many, and what each buyer has paid, on which terms."""

    def __init__(self) -> None:
        self.count = 0
        self._totals: dict[str, Total] = {}
        self._tabs: dict[str, Tab] = {}

    def tab(self, buyer: str) -> Tab:
        """What a buyer's purchases cost together by the list, and the terms that it has accepted."""
        return self._tabs.get(buyer, NOTHING_BOUGHT)

    def totals(self) -> dict[str, Total]:
        """What every buyer has bought and paid, by name in order, from the purchases themselves."""
        return dict(sorted(self._totals.items()))

    @abstractmethod
    def replay(self, purchases: Iterable[Purchase]) -> None:
        """Take in many purchases at once: a restarted provider's, or those of another process."""

    def make_ready(self) -> None:  # noqa: B027  # most have nothing to work out
        """Work out beforehand what the first requests would have to wait for."""

    @property
    def kind(self) -> str:
        """Whose way of keeping it is: another kind cannot take it back."""
        return type(self).__name__

    @abstractmethod
    def _kept(self) -> Kept:
        """What purchases have taught, as this kind of sales knows it."""

    @abstractmethod
    def _take_back(self, kept: Kept) -> None:
        """Know what was kept, and nothing else yet."""

    def kept(self) -> Kept:
        """All that has been taken in; none of the answers."""
        of_buyers = {b: [*total, plain_tab(self.tab(b))] for b, total in self._totals.items()}
        return {"count": self.count, "buyers": of_buyers, "learned": self._kept()}

    def take_back(self, kept: Kept) -> None:
        """Know what was kept of sales of this kind, as if it had been taken in one by one; nothing is known yet."""
        self.count = kept["count"]
        for buyer, (purchases, spent, tab) in kept["buyers"].items():
            self._totals[buyer], self._tabs[buyer] = Total(purchases, spent), tab_of(tab)
        self._take_back(kept["learned"])

    def take_in(self, told: Iterable[AboutBuyer]) -> None:
        """Take in what entries say, in the order in which they are in the ledger; accounts bear on no quote."""
        for _, some in groupby(told, key=lambda one: isinstance(one, Purchase)):
            taken = list(some)
            for agreement in (one for one in taken if isinstance(one, AcceptedTerms)):
                self.agree(agreement)
            self.count += sum(isinstance(one, AccountChange) for one in taken)
            self.replay(one for one in taken if isinstance(one, Purchase))

    def agree(self, agreement: AcceptedTerms) -> None:
        """Take in terms that a buyer has accepted."""
        put_on_tab(self._tabs, agreement)
        self._totals.setdefault(agreement.buyer, Total())
        self.count += 1

    def learn_elsewhere(self, purchase: Purchase) -> bool:
        """Know of what another provider has sold of the same people: it counts like a sale, and is none.

        False, where it is about nobody that can be judged here.
        """
        self.replay([purchase])
        self.count -= 1
        del self._totals[purchase.buyer], self._tabs[purchase.buyer]
        return True

    def _count(self, purchase: Purchase) -> None:
        put_on_tab(self._tabs, purchase)
        self._totals[purchase.buyer] = self._totals.get(purchase.buyer, Total()).plus(purchase.price)
        self.count += 1


@dataclass(frozen=True)
class KeptBack:
    """What a policy keeps back at sealed quotes: of how many rows nobody is sold more than is safe."""

    rows: int
    safe_levels: Mapping[str, Sequence[int]]
    """φ: per attribute that is for sale, the levels below which it is not sold, by what a row can be; none is safe
    where even that a row is there would tell."""
    open_rows: int | None = None
    """Of which rows that is so now, if which ones are kept back depends on what is left last (`reserve = "last"`)."""

    def words(self, rows: int) -> Iterator[str]:
        """How many of so many rows are kept back, and below which levels.

        >>> list(KeptBack(2, {"MED": [1], "DIAG": [2, 3], "AGE": [0]}).words(6))
        ['2 of 6 rows are kept back', 'of these nobody is sold MED below level 1, DIAG below level 2 or 3']
        >>> next(KeptBack(2, {"MED": []}, open_rows=5).words(6))
        '2 of 6 rows are kept back, those left last in each group; 5 are open'
        """
        last = "" if self.open_rows is None else f", those left last in each group; {self.open_rows:,} are open"
        yield f"{self.rows:,} of {rows:,} rows are kept back{last}"
        told = [f"{a} {_below(levels)}" for a, levels in self.safe_levels.items() if list(levels) != [0]]
        if self.rows:
            yield f"of these nobody is sold {', '.join(told)}" if told else "all that is for sale of them is safe"


def _below(levels: Sequence[int]) -> str:
    return f"below level {' or '.join(map(str, levels))}" if levels else "at any level"


@dataclass
class CountedGroups:
    """One policy's X-groups: how many, by how far they are above their bound, and rows in none."""

    behind: GroupsBehind
    """Which ones these are."""
    groups: int = 0
    unlinked_rows: int = 0
    margins: Counter[int] = field(default_factory=Counter)
    short_together: int = 0
    """How many are short with the purchases of all buyers pooled."""
    kept_back: KeptBack | None = None


@dataclass
class CountedSales:
    """What one buyer's purchases have ruled out: how many neighbours, and what they weigh."""

    ruled_out: int = 0
    due: int = 0


class CountedShop(NamedTuple):
    """What follows from the purchases: per policy, and per buyer."""

    groups: Sequence[CountedGroups]
    sales: Mapping[str, CountedSales]


class Shop(Protocol[S]):
    """A provider's relation, made ready to sell from."""

    terms: Terms
    keeps_quotes: bool
    """Whether a quote is one look, whatever is asked for."""
    is_short: bool
    """Whether the support set itself shows too few values for a policy, so that everything is refused."""

    @property
    def rows(self) -> int: ...

    @property
    def neighbours(self) -> int:
        """|S|, how many neighbours the support set has."""
        ...

    @property
    def total(self) -> int:
        """What everything costs together."""
        ...

    @property
    def price_lists(self) -> PriceLists | None:
        """What clients may quote by themselves from, where quotes are sealed."""
        ...

    @property
    def sales(self) -> RecordedSales: ...

    @property
    def offers(self) -> Mapping[str, Offer]: ...

    def fingerprint(self) -> dict[str, str]:
        """A hex digest of each thing that prices and answers follow from."""
        ...

    def ladders(self, attribute: str, tuples: Columns, buyer: str) -> Ladders:
        """Prices and refusals at all levels."""
        ...

    def ladder(self, attribute: str, values: Mapping[str, str | None], buyer: str) -> Sequence[int]:
        """The same for one tuple."""
        ...

    def judge(self, request: Request, buyer: str) -> S | Refusal:
        """Whether one request is sold at its level, and at which price."""
        ...

    def purchase(self, sale: S, request: Request, buyer: str, key: str, time: int | None) -> Purchase:
        """What the ledger is told of a sale that is made at this time."""
        ...

    def add(self, sale: S, purchase: Purchase) -> None:
        """Take in a purchase that was made here; whoever calls holds the lock of what was sold."""
        ...

    def recount(self, told: Sequence[AboutBuyer]) -> None:
        """Know what these entries say to be all that there is; whoever calls holds the lock of what was sold."""
        ...

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        """The price of any generalized query."""
        ...

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        """What an audit counts, from these purchases alone: what they leave to every X-group, and must have cost."""
        ...
