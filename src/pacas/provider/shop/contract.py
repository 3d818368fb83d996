"""Where requests are judged and what has been sold is known: over a relation in memory, or over one on the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from pacas.core.query import GeneralizedQuery
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders, Offer, Quote, Refusal, Request
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import Purchase
from pacas.provider.quoter.price_lists import PriceLists
from pacas.provider.shop.x_groups import GroupsBehind
from pacas.provider.terms import Terms

Tell = Callable[[str], None]
"""Is told what is being done."""

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
    """The purchases that have been taken in: how many, and what each buyer has paid."""

    def __init__(self) -> None:
        self.count = 0
        self._totals: dict[str, Total] = {}
        self._listed: dict[str, int] = {}

    def listed(self, buyer: str) -> int:
        """W: what a buyer's purchases cost together by the list, in nanocredits."""
        return self._listed.get(buyer, 0)

    def totals(self) -> dict[str, Total]:
        """What every buyer has bought and paid, by name in order, from the purchases themselves."""
        return dict(sorted(self._totals.items()))

    @abstractmethod
    def replay(self, purchases: Iterable[Purchase]) -> None:
        """Take in many purchases at once: a restarted provider's, or those of another process."""

    def _count(self, purchase: Purchase) -> None:
        self._listed[purchase.buyer] = self.listed(purchase.buyer) + purchase.list_price
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

    def judge(self, request: Request, buyer: str) -> S | Refusal:
        """Whether one request is sold at its level, and at which price."""
        ...

    def purchase(self, sale: S, request: Request, buyer: str, key: str) -> Purchase:
        """What the ledger is told of a sale."""
        ...

    def add(self, sale: S, purchase: Purchase) -> None:
        """Take in a purchase that was made here; whoever calls holds the lock of what was sold."""
        ...

    def recount(self, purchases: Sequence[Purchase]) -> None:
        """Know these purchases to be all that was sold; whoever calls holds the lock of what was sold."""
        ...

    def quote_query(self, query: GeneralizedQuery, buyer: str) -> Quote | Refusal:
        """The price of any generalized query."""
        ...

    def count_sales(self, purchases: Sequence[Purchase]) -> CountedShop:
        """What an audit counts, from these purchases alone: what they leave to every X-group, and must have cost."""
        ...
