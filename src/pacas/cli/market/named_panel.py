"""Several providers that a cleaning names: how each is called and reached. One that is away costs a line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pacas.cli.market.named_provider import (
    KeepingReceipts,
    Market,
    NamedProvider,
    check_receipts,
    keeping_receipts,
    opened_market,
)
from pacas.cli.options import HowToBuy, is_url, printable
from pacas.client.buying.absent_market import AbsentMarket
from pacas.client.buying.panel import PATIENCE, failure_line
from pacas.client.buying.sellers import Markets
from pacas.client.outcome.offered_terms import StandingOffers
from pacas.core.money import credits_words
from pacas.engine.contract import Engine
from pacas.errors import FileError, InputError, PacasError, RemoteError
from pacas.formats.client_file import ClientFile
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer
from pacas.remote.address import Address
from pacas.wire.connection_file import is_connection_file

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class NamedPanel:
    """Providers by the names that they have here."""

    members: Mapping[str, NamedProvider]

    @property
    def signs(self) -> bool:
        """Whether any of them is at a URL, and signs what it sells."""
        return any(member.signs for member in self.members.values())

    def files(self) -> list[Path]:
        """What those in this process read, and their ledgers and keys."""
        return [path for member in self.members.values() for path in member.files()]


class LeftOut(NamedTuple):
    """One of several that could not be opened."""

    why: str
    receipts: Path | None
    """The folder for its receipts."""
    again: Callable[[], Market]
    """Tries once more; what is opened is closed with all others."""


class OpenedMarkets(NamedTuple):
    """Where a cleaning buys, who buys there, and what its account may spend, where there is one with a limit."""

    markets: Markets
    buyer: str | Mapping[str, str]
    credit: int | None
    standing: Mapping[str | None, Callable[[], StandingOffers]]
    """By the provider's name, or None: how to ask for the offers that may be accepted there."""
    at_urls: Collection[str] = ()
    """Who of several may be away another time, and tells what is public alone."""
    left_out: Mapping[str, LeftOut] = MappingProxyType({})
    late: Mapping[str, Marketplace] = MappingProxyType({})
    """Those of them that are called at the end."""
    accounts: Mapping[str, str] = MappingProxyType({})
    """Who buys at those at URLs that have been opened by now."""

    def published(self) -> dict[str, Mapping[str, Offer]]:
        """What those of several offer that may be away another time."""
        if not isinstance(self.markets, Mapping) or len(self.markets) + len(self.late) < 2:
            return {}
        return {name: market.catalogue() for name, market in self.markets.items() if name in self.at_urls}

    def receipts(self) -> Mapping[str, str]:
        """The names of kept receipts, those of several providers in their folders, by the purchase's key."""
        if not isinstance(self.markets, Mapping):
            return self.markets.kept if isinstance(self.markets, KeepingReceipts) else {}
        kept = {n: m.kept for n, m in {**self.markets, **self.late}.items() if isinstance(m, KeepingReceipts)}
        return {key: f"{name}/{file}" for name, files in kept.items() for key, file in files.items()}


def providers_named(given: Sequence[str]) -> dict[str, str]:
    """`NAME=PROVIDER`, or a provider that is called after its file or host; by name."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, provider = text.partition("=")
        if not sign or not _NAME.fullmatch(name) or Path(text).exists():
            name, provider = _called(text), text
        if name in found:
            raise InputError(f"two providers are called {name!r}; name them, as in --provider A={provider}")
        found[name] = provider
    return found


def _called(provider: str) -> str:
    name = re.split("[/?#]+", provider)[1].rpartition("@")[2] if is_url(provider) else Path(provider).stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "provider"


def whom_to_ask(given: Sequence[str] | None, file: ClientFile, reach: HowToBuy) -> NamedProvider | NamedPanel | None:
    """One provider, or several by name; the command line's go before those of the client's file."""
    named = providers_named(given) if given else file.providers_named
    if len(named) > 1:
        members = _members(named, reach)
        return NamedPanel({name: replace(member, client=file) for name, member in members.items()})
    return _one_to_ask(next(iter(named.values()), file.provider_named), file, reach)


def _one_to_ask(provider: str | None, file: ClientFile, reach: HowToBuy) -> NamedProvider | None:
    """The provider that is to be bought from; None where nothing is."""
    if provider is None:
        about = {"--as": reach.buyer, "--receipts": reach.receipts, "--ca": reach.ca, "--patience": reach.patience}
        for option, value in (about | {"--cert": reach.cert, "--cert-key": reach.cert_key}).items():
            if value:
                raise InputError(f"{option} is about buying, and there is no provider; give --provider")
        return None
    named = NamedProvider(provider, reach, reach.buyer, patience=reach.patience)
    check_receipts(named.provider, reach.receipts)
    return replace(named, client=file)


def _members(providers: Mapping[str, str], reach: HowToBuy) -> dict[str, NamedProvider]:
    """Each with what is said of its kind: a token and certificates for a URL, a name where all are files."""
    urls = [provider for provider in providers.values() if is_url(provider)]
    if reach.token and len(urls) > 1:
        raise InputError("one --token opens an account at one URL; for several give connection files (buyer.pacas)")
    members = {}
    for name, provider in providers.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for a provider; take letters, digits, and . _ - between them")
        if is_url(provider) or is_connection_file(provider):
            own = reach if is_url(provider) else replace(reach, token=None)
            members[name] = NamedProvider(provider, own, reach.buyer, patience=reach.patience or PATIENCE)
        else:
            members[name] = NamedProvider(provider, buyer=reach.buyer)
    if not NamedPanel(members).signs:
        check_receipts(next(iter(providers.values())), reach.receipts)
    return members


@contextmanager
def opened_markets(
    reach: NamedProvider | NamedPanel | None, receipts: Path | None, beside: Engine[Any]
) -> Iterator[OpenedMarkets]:
    """A provider, or all of several that can be opened, as their buyer sees them."""
    if isinstance(reach, NamedPanel):
        with _opened_panel(reach, receipts, beside) as panel:
            yield panel
    else:
        with opened_market(reach, receipts, beside) as (market, buyer, credit, standing):
            yield OpenedMarkets(market, buyer, credit, {None: standing})


@contextmanager
def _opened_panel(panel: NamedPanel, receipts: Path | None, beside: Engine[Any]) -> Iterator[OpenedMarkets]:
    """All that can be opened; a line for each that cannot, and for each with a limit."""
    with ExitStack() as stack:
        markets: dict[str, Marketplace] = {}
        buyers: dict[str, str] = {}
        standing: dict[str | None, Callable[[], StandingOffers]] = {}
        left_out: dict[str, LeftOut] = {}
        late: dict[str, Marketplace] = {}
        accounts: dict[str, str] = {}
        for name, member in panel.members.items():
            folder = _folder(receipts, name, member)
            if member.signs:
                Address.parse(member.provider, insecure=member.reach.insecure)
            try:
                market = stack.enter_context(opened_market(member, folder, beside))
            except (PacasError, OSError) as error:
                if isinstance(error, FileError) or (isinstance(error, InputError) and not member.signs):
                    raise  # a mistake in what is given here
                how = "is away, and called again at the end" if member.signs else "is left out"
                print(f"pacas: {printable(name)} {how}: {error}", file=sys.stderr)
                left_out[name] = LeftOut(failure_line(error), folder, partial(_again, stack, member))
                if member.signs:
                    late[name] = _late(name, left_out[name], accounts)
                continue
            markets[name] = market.marketplace
            buyers[name], standing[name] = market.buyer, market.standing
            accounts |= {name: market.buyer} if member.signs else {}
            if market.credit is not None:
                print(f"pacas: {printable(name)}: {credits_words(market.credit)} may be spent there", file=sys.stderr)
        if not markets:
            raise RemoteError("none of the providers is there; try again, and nothing is lost")
        at_urls = [name for name, member in panel.members.items() if member.signs]
        yield OpenedMarkets(markets, buyers, None, standing, at_urls, left_out, late, accounts)


def _late(name: str, left_out: LeftOut, buyers: dict[str, str]) -> Marketplace:
    """One that is away, and of which nothing is known until it is called."""

    def opened() -> Marketplace:
        market = left_out.again()
        buyers[name] = market.buyer
        return market.marketplace

    return keeping_receipts(AbsentMarket(None, left_out.why, opened), left_out.receipts)


def _again(stack: ExitStack, member: NamedProvider) -> Market:
    return stack.enter_context(opened_market(member, None, quietly=True))


def _folder(receipts: Path | None, name: str, member: NamedProvider) -> Path | None:
    """Receipts are kept by provider, each in its folder."""
    if receipts is None or not is_url(member.provider):
        return None
    try:
        receipts.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{receipts} is no folder for receipts, and cannot be made ({error.strerror})") from None
    return receipts / name
