"""SafeClean: repair a relation with values bought under a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

from pacas.client.buying.offers import (
    PREFERENCES,
    MaxLevel,
    all_hierarchies,
    check_marketplace,
    check_max_level,
    find_offers,
    is_whole,
)
from pacas.client.buying.own_names import OwnColumns, check_own_names, in_own_names
from pacas.client.buying.panel import PanelPurchaser, Seller
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.sellers import FoundSellers, Markets, find_sellers
from pacas.client.classes.named_cells import check_attributes, check_cells
from pacas.client.found.found_cells import numbered
from pacas.client.found.given_cells import GivenCells, as_found_cells
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.repairs import ListedRepairs
from pacas.client.outcome.steps import Observer
from pacas.client.panel.panel_strategy import PanelStrategy
from pacas.client.paper.allocation import ALLOCATIONS
from pacas.client.paper.paper_strategy import PaperStrategy
from pacas.client.paper.repair import REPAIRS
from pacas.client.strategy import Strategy, Task
from pacas.client.weighing.weigh_strategy import WeighStrategy
from pacas.core.dependency import FunctionalDependency
from pacas.core.money import credits_words, nanocredits
from pacas.core.words import counted
from pacas.engine.contract import Engine, RelationFile, Source
from pacas.engine.hierarchy_files import GivenHierarchies, as_hierarchies
from pacas.engine.questions import Data, as_source, engine_for
from pacas.errors import InputError, SchemaError
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer

T = TypeVar("T")

WEIGH, PAPER = "weigh", "paper"
STRATEGIES = (WEIGH, PAPER)

CAREFUL = 0.9
"""The least probability of a repair that nothing was bought for."""


class SafeClean:
    """How to clean: the dependencies, the money, and the choices that the paper leaves open.

    `budget` is in credits. `hierarchies`, or the files they are in, are the client's own; for other attributes those of
    the provider count.
    `max_level` is the coarsest level that may be bought, for all attributes or by attribute. `cells` are those that
    another error detector has named: (row, attribute) pairs, or with a `key` (its value, attribute) pairs; a table of
    them, pandera's failure cases, or Great Expectations' validation result. `columns` are those that the provider calls
    by other names: the client's name, and the provider's, or None for one that only looks like the provider's.

    `strategy` is "weigh" (D14), which is as `careful` as it is told, and may `look_further` than dependencies do: in
    all columns, at rare values beside frequent ones and at what the row makes improbable; or "paper", whose are
    `allocation`, `prefer`, `repair` and `rounds`: who gives one of these need not name it.
    """

    def __init__(
        self,
        fds: str | Iterable[str | FunctionalDependency],
        budget: int | float | str,
        *,
        hierarchies: GivenHierarchies | None = None,
        max_level: MaxLevel = None,
        strategy: str | None = None,
        careful: float | None = None,
        look_further: bool = False,
        allocation: str | None = None,
        prefer: str | None = None,
        repair: str | None = None,
        rounds: int | None = None,
        cells: GivenCells | None = None,
        key: str | Sequence[str] | None = None,
        columns: OwnColumns | None = None,
    ) -> None:
        self.fds = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
        self._found = as_found_cells(cells, key)
        self.cells = tuple(self._found.cells)
        self.budget = nanocredits(budget, "the budget")
        self.hierarchies = as_hierarchies(hierarchies)
        self.columns = dict(columns or {})
        check_own_names(self.columns)
        self.max_level = max_level
        papers = {"allocation": allocation, "prefer": prefer, "repair": repair, "rounds": rounds}
        self.strategy = strategy_named(strategy, [name for name, given in papers.items() if given is not None])
        self.prefer = _one_of({p: p for p in PREFERENCES}, "finest" if prefer is None else prefer, "preference")
        check_max_level(max_level)
        if self.budget < 0:
            raise InputError(f"the budget must not be negative, and {budget!r} is")
        self._strategy: Strategy
        self.choices: dict[str, Any]
        """What the strategy was told, or does by default."""
        if self.strategy == PAPER:
            self.choices = {
                "allocation": "errors" if allocation is None else allocation,
                "prefer": self.prefer,
                "repair": "refine" if repair is None else repair,
                "rounds": 1 if rounds is None else rounds,
            }
            if look_further:
                raise InputError(
                    "look further: only the strategy that weighs does; leave it out, or take strategy weigh"
                )
            self._strategy = _paper_strategy(self.choices, careful)
        else:
            self.choices = {"strategy": WEIGH, "careful": check_careful(CAREFUL if careful is None else careful)}
            self.choices |= {"look_further": True} if look_further else {}
            self._strategy = WeighStrategy(self.choices["careful"], look_further=look_further)

    def __repr__(self) -> str:
        by = "; ".join(map(str, self.fds)) or f"{counted(len(self.cells), 'named cell')}"
        return f"SafeClean({by}; {credits_words(self.budget)}, {self.strategy})"

    def with_budget(self, budget: int) -> SafeClean:
        """The same with another budget, in nanocredits."""
        other = copy(self)
        other.budget = budget
        return other

    def clean(
        self,
        data: Data,
        marketplace: Markets,
        *,
        run: str | None = None,
        observer: Observer | None = None,
        engine: Engine[Any] | None = None,
        dry_run: bool = False,
        away: Mapping[str, Marketplace] | None = None,
    ) -> Cleaning:
        """Repair a table in memory, or a file's (`pacas.scan_relation`), with what the marketplace sells.

        Purchases are paid under idempotency keys made from `run`, which must be a name of this run and of no other. In
        a dry run nothing is paid: the answers, and so the relation, are supposed, and quotes are those of now.

        Several marketplaces, by name, are asked together: what they and the table itself say is weighed against each
        other, within the one budget. Who of them does not answer is called again at the end, and so are those that are
        known to be `away` now.
        """
        source = as_source(data)
        SchemaError.check_there(self.columns, source.columns, source.name)
        for fd in self.fds:
            fd.check(source.columns, source.name)
        engine = engine_for(data, engine)
        run, observer = run or uuid4().hex, observer or Observer()
        found = self.sellers(marketplace, source, away or {})
        buyer: Purchaser
        if None in found.sellers:
            buyer = Purchaser(*found.sellers[None][:2], self.budget, run, observer, supposing=dry_run)
        else:
            several = {str(name): seller for name, seller in found.sellers.items()}
            buyer = PanelPurchaser(several, self.budget, run, observer, supposing=dry_run, late=found.late)
        hierarchies = all_hierarchies(found.catalogue, self.hierarchies, source)
        cells = numbered(self._found, source, engine)
        check_attributes(cells, source)
        table = engine.open(source, self._columns(source, engine, buyer))
        named = check_cells(cells, table)
        task = Task(engine, source, table, self.fds, named, hierarchies, buyer.offers, buyer)
        strategy = self._panel_strategy() if isinstance(buyer, PanelPurchaser) else self._strategy
        outcome = strategy.clean(task)
        return Cleaning(
            source=source,
            table=table,
            fds=self.fds,
            hierarchies=hierarchies,
            purchases=tuple(buyer.purchases),
            repairs=ListedRepairs(outcome.repairs),
            unrepaired=tuple(outcome.unrepaired),
            budget_nanocredits=self.budget,
            spent_nanocredits=buyer.spent,
            violations_before=outcome.violations_before,
            counted_after=outcome.violations_after,
            rounds=outcome.rounds,
            engine=engine,
            known_changes=outcome.changes,
            weighing=outcome.weighing,
            panel=outcome.panel and replace(outcome.panel, away={**found.lines, **outcome.panel.away}),
        )

    def _panel_strategy(self) -> Strategy:
        """What the paper's choices mean where several are asked: what is written is what they say together."""
        if self.strategy != PAPER:
            return self._strategy
        for name, usual in {"prefer": "finest", "repair": "refine"}.items():
            if self.choices[name] != usual:
                raise InputError(
                    f"{name} {self.choices[name]}: several providers are asked and settled otherwise; leave it out"
                )
        return PanelStrategy(ALLOCATIONS[self.choices["allocation"]], self.choices["rounds"])

    def sellers(self, markets: Markets, source: Source, away: Mapping[str, Marketplace]) -> FoundSellers:
        """The provider, or those of several that can be bought from, and what each sells of what may need a repair."""

        def wanted(catalogue: Mapping[str, Offer]) -> set[str]:
            return self.wanted(catalogue, source)

        if isinstance(markets, Mapping):
            if len(markets) + len(away) != 1:
                return find_sellers(markets, self.columns, wanted, source, self.max_level, away)
            markets = next(iter(markets.values()))
        check_marketplace(markets)
        market = in_own_names(markets, self.columns)
        catalogue = market.catalogue()
        offers = find_offers(catalogue, wanted(catalogue), source, self.max_level, self.prefer)
        return FoundSellers({None: Seller(market, offers, catalogue)}, {})

    def catalogue(self, marketplace: Marketplace) -> Mapping[str, Offer]:
        """What one provider has for sale, by the client's own names."""
        return in_own_names(marketplace, self.columns).catalogue()

    def wanted(self, catalogue: Mapping[str, Offer], source: Source) -> set[str]:
        """The attributes that may be bought: right sides and named cells; where it weighs, left sides, too.

        Whoever looks further may buy any.
        """
        wanted = {fd.rhs for fd in self.fds} | self._found.attributes
        if self.strategy == WEIGH:
            more = {*source.columns} if "look_further" in self.choices else {a for fd in self.fds for a in fd.lhs}
            wanted |= {a for a in more & {*catalogue} if all(c in source.columns for c in catalogue[a].columns)}
        return wanted

    def _columns(self, source: Source, engine: Engine[Any], buyer: Purchaser) -> list[str] | None:
        """The columns to open; None for all: a text is read as a whole, and any column may bear witness."""
        is_one_late = isinstance(buyer, PanelPurchaser) and bool(buyer.late)
        if self.strategy == WEIGH or is_one_late or _is_read_at_once(source, engine):
            return None
        named = {a for fd in self.fds for a in fd.attributes} | self._found.attributes | buyer.columns
        return [column for column in source.columns if column in named]


def strategy_named(given: str | None, papers: list[str]) -> str:
    """The strategy that is asked for; what only the paper's has need not say so."""
    if given is None:
        return PAPER if papers else WEIGH
    if given not in STRATEGIES:
        raise InputError.unknown("strategy", given, STRATEGIES)
    if given == WEIGH and papers:
        raise InputError(f"{', '.join(papers)}: only the paper's strategy has it; leave it out, or take strategy paper")
    return given


def check_careful(careful: float) -> float:
    if isinstance(careful, bool) or not isinstance(careful, int | float) or not 0 <= careful <= 1:
        raise InputError(f"careful is a probability from 0 to 1, such as {CAREFUL}, not {careful!r}")
    return float(careful)


def _paper_strategy(choices: Mapping[str, Any], careful: float | None) -> PaperStrategy:
    if careful is not None:
        raise InputError("careful: only the strategy that weighs has it; leave it out, or take strategy weigh")
    rounds = choices["rounds"]
    if not is_whole(rounds) or rounds < 1:
        raise InputError(f"at least one round is needed, a whole number of them, not {rounds!r}")
    allocate = _one_of(ALLOCATIONS, choices["allocation"], "allocation")
    return PaperStrategy(allocate, _one_of(REPAIRS, choices["repair"], "way to repair"), rounds)


def _is_read_at_once(source: Source, engine: Engine[Any]) -> bool:
    """Whether all columns are read in the same go: a text has to be read as a whole, and will be written so."""
    if not isinstance(source, RelationFile) or source.format != "csv":
        return False
    return source.path.stat().st_size * TEXT <= engine.holdable_bytes


TEXT = 4
"""What a byte of a text file takes in memory, at most."""


def _one_of(known: Mapping[str, T], name: str, what: str) -> T:
    if not isinstance(name, str) or name not in known:
        raise InputError.unknown(what, name, known)
    return known[name]
