"""From the name of a provider to the provider: the file, the engine and the ledger, wired together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import time
from typing import Any

from pacas.cli.data_options import opened_engine
from pacas.cli.options import is_url, progress
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.opening.described_provider import open_described
from pacas.opening.open_circle import open_circle
from pacas.opening.open_provider import anew_words
from pacas.protocol.messages import OfferedTerms
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.ledger.offers import PrivateOffer
from pacas.provider.provider import Provider
from pacas.storage.url import ledger_kind, open_offers


def read_provider(named: str) -> ProviderFile:
    """Read the file of a provider that is not named by a URL: its owner's commands need the file."""
    if is_url(named):
        raise InputError("this is for the provider's owner, where its data is; give its provider.toml, not a URL")
    return read_provider_file(Path(named))


def kept_provider(provider: str, lacks: str = "keeps no accounts") -> ProviderFile:
    """The provider's file, if it names a ledger that lasts; one in memory lacks what it is asked for."""
    file = read_provider(provider)
    if ledger_kind(file.ledger_url) == "memory":
        raise ConfigError(f"ledger.url: a ledger in memory {lacks}; name a file or a database")
    return file


@contextmanager
def opened_provider(
    file: ProviderFile, given: EngineChoice | None = None, *, beside: Engine[Any] | None = None
) -> Iterator[Provider]:
    """A provider for one command, everything closed at its end; progress is shown while it is made ready.

    The engine is the one that is given, else the file's; one that runs beside it may serve both.
    """
    with opened_with_engine(file, given, beside=beside) as (provider, _):
        yield provider


@contextmanager
def opened_with_engine(
    file: ProviderFile,
    given: EngineChoice | None = None,
    *,
    beside: Engine[Any] | None = None,
    read_only: bool = False,
) -> Iterator[tuple[Provider, Engine[Any]]]:
    """A provider for one command, and the engine that it sells from, for its owner's own questions.

    With `read_only` nothing is written to its ledger, and none is made.
    """
    choice = file.engine_choice if given is None else given.over(file.engine_choice)
    with opened_engine(choice, beside) as engine:
        with progress() as tell:
            tell(f"reading {file.path.name}")
            provider = open_described(file, engine, tell, read_only=read_only)
        if provider.began_anew:
            print(f"pacas: {anew_words(provider)}", file=sys.stderr)
        with closing(provider):
            yield provider, engine


@contextmanager
def opened_unsold(file: ProviderFile, given: EngineChoice) -> Iterator[tuple[Provider, Engine[Any]]]:
    """A provider as if nothing had been sold, and its engine. No ledger is opened: its terms may still change."""
    with opened_engine(given.over(file.engine_choice)) as engine:
        with progress() as tell:
            tell(f"reading {file.path.name}")
            provider = make_provider(file, engine, MemoryLedger, [], tell, open_circle(file, is_asked=False))
        yield provider, engine


def offers_to(file: ProviderFile, buyer: str | None = None) -> list[OfferedTerms]:
    """The private offers that are kept with a provider's ledger, all or those to one buyer; none in memory."""
    if ledger_kind(file.ledger_url) == "memory":
        return []
    with closing(open_offers(file.ledger_url, file.folder)) as offers:
        return [offered_terms(offer) for offer in offers.list(buyer)]


def offered_terms(offer: PrivateOffer) -> OfferedTerms:
    """An offer as it is at this moment."""
    state, stands = offer.state.value, offer.stands(time())
    terms = (offer.schedule, offer.prepaid, offer.days, offer.stands_until)
    return OfferedTerms(offer.id, state, stands, *terms, buyer=offer.buyer)
