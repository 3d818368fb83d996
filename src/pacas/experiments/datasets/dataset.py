"""A data set of the evaluation: a curated relation, its dependencies, and the terms on which it is sold.

Paper: §7, Table "Data characteristics". A request finds its rows by the left side of a dependency, so that all rows it
finds agree. Two ways of guarding them are kept side by side:

- *guarded*: X holds the quasi-identifiers and whatever else a request is matched by (D5). Every X-group then lies
  inside what some request finds and has one value, so that a sale is safe only above level L: at the lowest level
  whose value has k values of level L below it, seen in the support set.
- *linked*: X holds the quasi-identifiers alone, as in the paper, and the policy allows linkage. A ground value may be
  sold wherever the rest of the X-group stays diverse enough; who knows more of a person than X may single it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.errors import InputError, did_you_mean
from pacas.experiments.datasets.curation import CuratedTable, Curation
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.support.support_set import Generated

K, LEVEL, PER_CELL = 3, 2, 10
"""The paper's defaults for k, l and |S|."""

TOTAL = 100
"""What everything costs, in credits, whatever the support set: enough for ten million neighbours."""

MAX_MATCHES = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """What an experiment needs to know of a data set. The relation is the truth and the provider's own."""

    name: str
    truth: Relation
    fds: tuple[FunctionalDependency, ...]
    hierarchies: Mapping[str, Hierarchy]
    match: Mapping[str, MatchingDependency]
    """Per sold attribute, how a client's tuple finds the provider's rows."""
    quasi_identifiers: tuple[str, ...]
    source: str
    curation: Curation = field(default_factory=lambda: Curation(0))
    max_matches: int = MAX_MATCHES
    """The largest class that a request may find; left sides that few rows tell apart need more than the default."""

    @property
    def sold(self) -> tuple[str, ...]:
        return tuple(self.match)

    def x(self, attribute: str, *, linked: bool = False) -> tuple[str, ...]:
        """X of the policy that guards an attribute."""
        if attribute not in self.match:
            raise InputError(f"{self.name} does not sell {attribute!r}; {did_you_mean(attribute, self.sold)}")
        matched = () if linked else (clause.provider for clause in self.match[attribute].clauses)
        return tuple(dict.fromkeys([*self.quasi_identifiers, *matched]))

    def policies(self, k: int = K, level: int = LEVEL, *, linked: bool = False) -> tuple[Policy, ...]:
        """One policy per sold attribute; where its hierarchy has too few values at the level, at the highest with k."""
        return tuple(
            Policy(
                self.x(attribute, linked=linked),
                (attribute,),
                {attribute: min(level, _highest_level(self.hierarchies[attribute], k))},
                k,
                allow_linkage=linked,
            )
            for attribute in self.sold
        )

    def provider(
        self,
        k: int | None = K,
        level: int = LEVEL,
        *,
        per_cell: int = PER_CELL,
        seed: int = 0,
        linked: bool = False,
        quotes: QuoteMode = QuoteMode.PAPER,
        engine: Engine[Any] | None = None,
    ) -> Provider:
        """The provider of this data set at some parameters, its support set made from the seed.

        Without a k it has no policies, and a price for everything. It has the columns that requests and policies look
        at; others would only take time to fingerprint. Where quotes are sealed, rows that agree on a left side are sold
        as one.
        """
        quoting: dict[str, Any] = {"support": Generated(per_cell=per_cell), "seed": seed}
        if quotes is QuoteMode.SEALED:
            quoting = {"sealing": Sealing([DeclaredDependency(fd) for fd in self.fds])}
        needed = {*self.sold, *self.quasi_identifiers, *(a for attribute in self.sold for a in self.x(attribute))}
        return Provider(
            Relation(self.truth.table.select([column for column in self.truth.columns if column in needed])),
            match=self.match,
            policies=() if k is None else self.policies(k, level, linked=linked),
            hierarchies={a: h for a, h in self.hierarchies.items() if a in self.match},
            max_matches=self.max_matches,
            total=TOTAL,
            engine=engine,
            **quoting,
        )

    def __repr__(self) -> str:
        fds = "; ".join(map(str, self.fds))
        return f"Dataset({self.name}, {len(self.truth):,} rows × {len(self.truth.columns)}, {fds})"


def curated(
    name: str,
    bench: CuratedTable,
    fds: tuple[FunctionalDependency, ...],
    hierarchies: Mapping[str, Hierarchy],
    quasi_identifiers: tuple[str, ...],
    source: str,
    max_matches: int = MAX_MATCHES,
) -> Dataset:
    """A real data set, on which the dependencies are made to hold."""
    for fd in fds:
        bench.hold(fd)
    truth, match = Relation(bench.table), left_sides(fds)
    return Dataset(name, truth, fds, hierarchies, match, quasi_identifiers, source, bench.report(), max_matches)


def left_sides(fds: tuple[FunctionalDependency, ...]) -> dict[str, MatchingDependency]:
    """Each right side matched by equality on the left side that determines it."""
    return {fd.rhs: equality(*fd.lhs) for fd in fds}


def equality(*columns: str) -> MatchingDependency:
    """A match by equality of columns that both parties call the same."""
    return MatchingDependency.parse(", ".join(f'"{column}" = "{column}"' for column in columns))


def _highest_level(hierarchy: Hierarchy, k: int) -> int:
    """The highest level that has k values, or 0."""
    return max((level for level in range(hierarchy.height + 1) if len(hierarchy.at_level(level)) >= k), default=0)
