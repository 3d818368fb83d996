"""Several providers that a cleaning names: how each is called and reached. One that is away costs a line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pacas.cli.data_options import takes
from pacas.cli.market.named_provider import KeepingReceipts, NamedProvider, check_receipts, opened_market
from pacas.cli.options import (
    BuyerOption,
    CaOption,
    CertKeyOption,
    CertOption,
    InsecureOption,
    ReceiptsOption,
    TokenOption,
    is_url,
    printable,
)
from pacas.client.outcome.offered_terms import StandingOffers
from pacas.engine.contract import Engine
from pacas.errors import FileError, InputError, RemoteError, StorageError
from pacas.formats.client_file import ClientFile
from pacas.protocol.marketplace import Marketplace
from pacas.wire.connection_file import is_connection_file

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class NamedPanel:
    """Providers by the names that they have here."""

    members: Mapping[str, NamedProvider]

    def files(self) -> list[Path]:
        """What those in this process read, and their ledgers and keys."""
        return [path for member in self.members.values() for path in member.files()]


class PanelMarket(NamedTuple):
    """The providers that are there, who buys at each, and what may still be spent there, where that is limited."""

    markets: Mapping[str, Marketplace]
    buyers: Mapping[str, str]
    credits: Mapping[str, int]
    standing: Mapping[str, Callable[[], StandingOffers]]

    @property
    def receipts(self) -> dict[str, str]:
        """The names of kept receipts, in the folders of their providers, by the purchase's key."""
        kept = {n: m.kept for n, m in self.markets.items() if isinstance(m, KeepingReceipts)}
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


@dataclass(frozen=True, slots=True, repr=False)
class HowToReach:
    """Who buys, and how a provider is reached, as the command line says it."""

    buyer: BuyerOption = None
    token: TokenOption = None
    ca: CaOption = None
    cert: CertOption = None
    cert_key: CertKeyOption = None
    insecure: InsecureOption = False
    receipts: ReceiptsOption = None

    def named(self, provider: str) -> NamedProvider:
        return NamedProvider(provider, self.buyer, self.token, self.ca, self.cert, self.cert_key, self.insecure)


says_how_to_reach = takes("reach", HowToReach)
"""A command with all these options, where it takes a `reach`."""


def whom_to_ask(given: Sequence[str] | None, file: ClientFile, reach: HowToReach) -> NamedProvider | NamedPanel | None:
    """One provider, or several by name; the command line's go before those of the client's file."""
    named = providers_named(given) if given else file.providers_named
    if len(named) > 1:
        members = _members(named, reach)
        return NamedPanel({name: replace(member, client=file) for name, member in members.items()})
    return one_to_ask(next(iter(named.values()), file.provider_named), file, reach)


def one_to_ask(provider: str | None, file: ClientFile, reach: HowToReach) -> NamedProvider | None:
    """The provider that is to be bought from; None where nothing is."""
    if provider is None:
        about = {"--as": reach.buyer, "--receipts": reach.receipts, "--ca": reach.ca}
        for option, value in (about | {"--cert": reach.cert, "--cert-key": reach.cert_key}).items():
            if value:
                raise InputError(f"{option} is about buying, and there is no provider; give --provider")
        return None
    named = reach.named(provider)
    check_receipts(named.provider, reach.receipts)
    return replace(named, client=file)


def _members(providers: Mapping[str, str], reach: HowToReach) -> dict[str, NamedProvider]:
    """Each with what is said of its kind: a token and certificates for a URL, a name where all are files."""
    urls = [provider for provider in providers.values() if is_url(provider)]
    if reach.token and len(urls) > 1:
        raise InputError("one --token opens an account at one URL; for several give connection files (buyer.pacas)")
    members = {}
    for name, provider in providers.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for a provider; take letters, digits, and . _ - between them")
        of_its_kind = (
            reach
            if is_url(provider)
            else replace(reach, token=None)
            if is_connection_file(provider)
            else HowToReach(reach.buyer)
        )
        members[name] = of_its_kind.named(provider)
    if not any(is_url(member.provider) for member in members.values()):
        check_receipts(next(iter(providers.values())), reach.receipts)
    return members


@contextmanager
def opened_panel(panel: NamedPanel, receipts: Path | None, beside: Engine[Any] | None = None) -> Iterator[PanelMarket]:
    """All that can be opened, as their buyer sees them; a line for each that cannot."""
    with ExitStack() as stack:
        markets: dict[str, Marketplace] = {}
        credits: dict[str, int] = {}
        buyers: dict[str, str] = {}
        standing: dict[str, Callable[[], StandingOffers]] = {}
        for name, member in panel.members.items():
            try:
                market = stack.enter_context(opened_market(member, _folder(receipts, name, member), beside))
            except (RemoteError, StorageError, OSError) as error:
                print(f"pacas: {printable(name)} is left out: {error}", file=sys.stderr)
                continue
            markets[name] = market.marketplace
            buyers[name], standing[name] = market.buyer, market.standing
            if market.credit is not None:
                credits[name] = market.credit
        if not markets:
            raise RemoteError("none of the providers is there; try again, and nothing is lost")
        yield PanelMarket(markets, buyers, credits, standing)


def _folder(receipts: Path | None, name: str, member: NamedProvider) -> Path | None:
    """Receipts are kept by provider, each in its folder."""
    if receipts is None or not is_url(member.provider):
        return None
    try:
        receipts.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{receipts} is no folder for receipts, and cannot be made ({error.strerror})") from None
    return receipts / name
