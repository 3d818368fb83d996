"""The provider that a client's file is made for: what it sells, by which names, and what is known of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from pacas.cli.market.named_provider import NamedProvider, opened_remote
from pacas.cli.options import is_url
from pacas.core.dependency import FunctionalDependency
from pacas.core.query import MAIN
from pacas.protocol.marketplace import Marketplace, published_by
from pacas.protocol.messages import Offer, Reason, refused
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.mapping.column_mapping import MappedColumn, map_columns, map_names

if TYPE_CHECKING:
    from pacas.provider.provider import Provider

FEWEST, SURE = 3, 0.9
"""Keys that must be found, and the share of them that must have one value."""


@dataclass(frozen=True)
class ConsultedProvider:
    """A provider, and, where it is in this process, its columns by the names that clients know."""

    named: str
    marketplace: Marketplace
    columns: Mapping[str, ProfiledColumn] | None

    @property
    def dependencies(self) -> Sequence[FunctionalDependency]:
        return published_by(self.marketplace)

    @property
    def names(self) -> list[str]:
        """The columns that it tells of: what it sells, what it finds people by, what its dependencies are about."""
        offers = self.marketplace.catalogue().values()
        sold = [name for offer in offers for name in (offer.attribute, *offer.columns)]
        return list(dict.fromkeys([*sold, *(name for fd in self.dependencies for name in fd.attributes)]))

    def answers_for(self, offer: Offer, keys: Sequence[Sequence[str]]) -> bool:
        """Whether those that are found by some keys have one value each, nearly always."""
        if not keys or not keys[0]:
            return False
        asked = dict(zip(offer.columns, keys, strict=True))
        finest = self.marketplace.quote_batch(offer.attribute, asked).prices[:, 0]
        sure = int(((finest >= 0) | (finest == refused(Reason.UNSAFE))).sum())
        found = int((finest != refused(Reason.NO_MATCH)).sum())  # a refusal without its reason may be of many values
        return sure >= FEWEST and sure >= SURE * found

    def mapped(self, client: Mapping[str, ProfiledColumn]) -> list[MappedColumn]:
        """Which column of the client's is which of the provider's: by names alone, where nothing else is known."""
        if self.columns is None:
            return map_names(list(client), self.names)
        return map_columns(client, {name: self.columns[name] for name in self.names if name in self.columns})


@contextmanager
def consulted(reach: NamedProvider) -> Iterator[ConsultedProvider]:
    """A provider at a URL; or one by its file, as if nothing had been sold: no ledger is opened."""
    if is_url(reach.provider):
        with opened_remote(reach) as remote:
            yield ConsultedProvider(reach.provider, remote, None)
        return
    in_process = import_module("pacas.cli.opened_provider")
    with in_process.opened_unsold(reach.file, reach.engine) as (provider, engine):
        table = CodedTable.read(engine, reach.file.scan_relations(engine)[MAIN])
        yield ConsultedProvider(reach.provider, provider, _by_client_names(provider, table))


def _by_client_names(provider: Provider, table: CodedTable) -> dict[str, ProfiledColumn]:
    """The provider's columns, those of a match by what it calls a client's."""
    known = dict(table.columns)
    for match in provider.shop.terms.match.values():
        known |= {clause.client: table[clause.provider] for clause in match.clauses}
    return known
