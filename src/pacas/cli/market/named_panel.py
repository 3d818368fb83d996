"""Several providers that a cleaning names: how each is called and reached. One that is away costs a line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pacas.cli.market.named_provider import KeepingReceipts, NamedProvider, check_receipts, opened_market
from pacas.cli.options import is_url, printable
from pacas.client.outcome.offered_terms import StandingOffers
from pacas.engine.contract import Engine
from pacas.errors import FileError, InputError, RemoteError, StorageError
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


def named_panel(
    providers: Mapping[str, str],
    buyer: str | None,
    token: str | None,
    ca: Path | None,
    cert: Path | None,
    cert_key: Path | None,
    insecure: bool,
    receipts: Path | None,
) -> NamedPanel:
    """Each with what is said of its kind: a token and certificates for a URL, a name where all are files."""
    urls = [provider for provider in providers.values() if is_url(provider)]
    if token and len(urls) > 1:
        raise InputError("one --token opens an account at one URL; for several give connection files (buyer.pacas)")
    members = {}
    for name, provider in providers.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for a provider; take letters, digits, and . _ - between them")
        if is_url(provider):
            members[name] = NamedProvider(provider, buyer, token, ca, cert, cert_key, insecure)
        elif is_connection_file(provider):
            members[name] = NamedProvider(provider, buyer, None, ca, cert, cert_key, insecure)
        else:
            members[name] = NamedProvider(provider, buyer, None, None, None, None, False)
    if not any(is_url(member.provider) for member in members.values()):
        check_receipts(next(iter(providers.values())), receipts)
    return NamedPanel(members)


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
