"""`pacas.open_client`: from a client.toml to a table that can be checked and cleaned."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pacas.client.buying.panel import PATIENCE
from pacas.client.classes.check import Check, check
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine, Source
from pacas.errors import InputError
from pacas.formats.client_file import read_client_file
from pacas.opening.open_provider import open_provider
from pacas.protocol.marketplace import Marketplace, NobodySells
from pacas.remote.agreed_columns import Agreed
from pacas.remote.remote_provider import RemoteProvider
from pacas.wire.connection_file import is_connection_file

AnyProvider = Marketplace | str | PathLike[str]
"""A provider, or the file that describes or leads to one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Client:
    """A client's table, the dependencies that should hold in it, and its own hierarchies."""

    data: Source
    """The table: a file, a folder or a table of the engine's, its rows left where they are."""
    fds: tuple[FunctionalDependency, ...]
    hierarchies: Mapping[str, Hierarchy]
    engine: Engine[Any]
    columns: Mapping[str, str | None] = field(default_factory=dict)
    """Those that the provider calls by other names."""
    provider: str | None = None
    """Whom the client's file names to buy from."""
    budget: float | None = None
    """The credits that it names."""
    providers: Mapping[str, str] = field(default_factory=dict)
    """Several that it names, by name."""
    send: Agreed | None = None
    """The columns that may be sent to a provider at a URL; None: those that it asks for."""

    def check(self) -> Check:
        """Count the violations of each dependency and find the classes that need a repair."""
        return check(self.data, self.fds, self.hierarchies, engine=self.engine)

    def clean(
        self,
        provider: AnyProvider | Mapping[str, AnyProvider] | None = None,
        budget: int | float | str | None = None,
        *,
        dry_run: bool = False,
        **how: Any,
    ) -> Cleaning:
        """Repair the table with values bought from a provider, or from the one that a provider.toml describes.

        A connection file (`buyer.pacas`) leads to one at a URL. Several, by name, are asked together.

        Without one, here or in the client's file, own evidence alone repairs, for nothing. `how` are the choices of
        `SafeClean`: strategy, careful, max_level, …. Nothing is written; the result is.
        """
        provider = provider if provider is not None else self.providers or self.provider
        if provider is None:
            provider, budget = NobodySells(), budget or 0
        budget = self.budget if budget is None else budget
        if budget is None:
            raise InputError("say what all values together may cost: budget=2, or budget = 2 in the client's file")
        cleaner = SafeClean(self.fds, budget, hierarchies=self.hierarchies, columns=self.columns, **how)
        with ExitStack() as stack:
            market: Marketplace | Mapping[str, Marketplace]
            if isinstance(provider, Mapping):
                patience = RemoteProvider.waiting(PATIENCE)
                market = {name: self._opened(one, stack, patience) for name, one in provider.items()}
            else:
                market = self._opened(provider, stack, {})
            return cleaner.clean(self.data, market, engine=self.engine, dry_run=dry_run)

    def _opened(self, provider: AnyProvider, stack: ExitStack, patience: Mapping[str, float]) -> Marketplace:
        if not isinstance(provider, str | PathLike):
            return provider
        if is_connection_file(fspath(provider)):
            return stack.enter_context(RemoteProvider.of_file(Path(provider), send=self.send, **patience))
        return stack.enter_context(closing(open_provider(provider)))

    def __repr__(self) -> str:
        return f"Client({self.data.name}: {', '.join(self.data.columns)}; {'; '.join(map(str, self.fds)) or 'no fds'})"


def open_client(path: str | PathLike[str], *, engine: Engine[Any] | None = None) -> Client:
    """The client that a client.toml describes. The engine is the one that is given, else the file's."""
    file = read_client_file(Path(path))
    asked = file.engine_choice.open() if engine is None else engine
    data = file.scan(asked)
    return Client(
        data,
        file.dependencies(),
        file.read_hierarchies(data, asked),
        asked,
        file.own_columns,
        file.provider_named,
        file.budget,
        file.providers_named,
        file.may_send,
    )
