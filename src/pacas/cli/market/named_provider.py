"""The provider that a buyer's command names: how it is reached, by its file or its URL, and what it sells kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

import pacas
from pacas.cli.data_options import UNSAID
from pacas.cli.options import AT_HAND, HowToReach, is_url, printable, progress
from pacas.client.outcome.offered_terms import StandingOffers
from pacas.core.rates.schedule import LIST
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import FileError, InputError, RemoteError
from pacas.formats.replacing import replacing
from pacas.protocol.marketplace import Forwarding, Marketplace, NobodySells
from pacas.protocol.messages import Answer, Offer, Payment, Refusal, Request
from pacas.protocol.names import LOCAL, check_buyer
from pacas.protocol.receipt import SignedReceipt
from pacas.wire.connection_file import is_connection_file, read_connection_file
from pacas.wire.receipt_file import read_receipts
from pacas.wire.shapes.receipts import ReceiptDocument

if TYPE_CHECKING:
    from pacas.formats.client_file import ClientFile
    from pacas.formats.provider.provider_file import ProviderFile
    from pacas.provider.provider import Provider


@dataclass(frozen=True)
class NamedProvider:
    """A provider by its file or URL: what was given for a URL goes with a URL, and what is for a file with a file."""

    provider: str
    reach: HowToReach = AT_HAND
    buyer: str | None = None
    engine: EngineChoice = UNSAID
    public_key: str | None = None
    """What receipts are to be signed with, if a connection file says so."""
    client: ClientFile | None = None
    """Who says which columns may be sent; without it the requests do, which are given one by one."""
    patience: float | None = None
    """Seconds for which one at a URL is waited for, and asked again; None: as long as it is by default."""
    expired: str | None = None
    """A line, if its connection file says that its token counts no more."""

    def __post_init__(self) -> None:
        if is_connection_file(self.provider):
            self._follow(Path(self.provider))
        if not is_url(self.provider):
            buyer_name(self.buyer)
            of_url: dict[str, object] = {f"--{n}": getattr(self.reach, n) for n in ("ca", "cert", "insecure")}
            of_url |= {"--cert-key": self.reach.cert_key, "--patience": self.patience}
            for option, value in of_url.items():
                if value:
                    raise InputError(f"{option} goes with a provider at a URL; {self.provider} is a file")
        elif self.engine != UNSAID:
            raise InputError(
                "--engine, --master and --memory are for a provider's file; one at a URL has its own engine"
            )
        elif self.buyer is not None:
            raise InputError("--as is for a provider's file; at a URL the buyer is the account that the token opens")
        else:
            _ = self.reach.certificate

    def _follow(self, path: Path) -> None:
        """Take address, token and key from a connection file."""
        file = read_connection_file(path)
        reach, expired = replace(self.reach, token=file.token), file.expired(time(), path.name)
        found = {"provider": file.url, "reach": reach, "public_key": file.public_key, "expired": expired}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @cached_property
    def file(self) -> ProviderFile:
        """The provider's file, read when it is first needed."""
        found: ProviderFile = _in_process().read_provider(self.provider)
        return found

    @property
    def signs(self) -> bool:
        """Whether it is at a URL, and signs what it sells."""
        return is_url(self.provider)

    def files(self) -> list[Path]:
        """What a provider in this process reads, and its ledger and its key; at a URL it has nothing here."""
        if is_url(self.provider):
            return []
        return list(import_module("pacas.opening.described_provider").files_of(self.file))


@contextmanager
def opened_remote(reach: NamedProvider, *, quietly: bool = False) -> Iterator[pacas.RemoteProvider]:
    """A provider at a URL for one command; it has said what it sells, and is left at the end.

    `quietly` shows and asks nothing: somebody else has the terminal.
    """
    how = reach.reach
    with pacas.RemoteProvider(
        reach.provider,
        how.token.strip() if how.token else None,
        ca=how.ca,
        client_certificate=how.certificate,
        insecure=how.insecure,
        public_key=reach.public_key,
        expired=reach.expired,
        send=None if reach.client is None else reach.client.may_send,
        **({} if reach.patience is None else pacas.RemoteProvider.waiting(reach.patience)),
    ) as remote:
        with nullcontext(lambda _: None) if quietly else progress() as tell:
            tell(f"asking {remote.url}")
            remote.catalogue()
        if reach.client is not None and not quietly and sys.stdin.isatty():
            _ask_to_send(remote, reach.client)
        yield remote


def _ask_to_send(remote: pacas.RemoteProvider, client: ClientFile) -> None:
    """At the first use of a provider, ask about the columns that it wants and nobody has agreed to send.

    What is agreed to is written to the client's file, so that it is asked once.
    """
    if client.send is not None:
        return
    needed = {name: offer for name, offer in remote.catalogue().items() if name in client.named_columns}
    if not any(map(remote.beyond_agreed, needed.values())):
        return
    for name, offer in needed.items():
        typer.echo(printable(f"{remote.url} is sent {', '.join(offer.columns)} to find {name}"), err=True)
    if not typer.confirm(printable(f"Send these columns, and note it in {client.path.name}?"), err=True):
        raise InputError(f"nothing is sent to {remote.url} but what [send] of {client.path.name} allows")
    agreed = {name: offer.columns for name, offer in needed.items()}
    client.agree(agreed)
    remote.agree(agreed)


@contextmanager
def opened_file(reach: NamedProvider, beside: Engine[Any] | None = None) -> Iterator[Provider]:
    """A provider in this process for one command.

    `beside` is the client's engine, which may serve the provider, too.
    """
    with _in_process().opened_provider(reach.file, reach.engine, beside=beside) as opened:
        yield opened


class Market(NamedTuple):
    """A provider as its buyer sees it, who that buyer is, and what it may still spend; None where nothing limits it."""

    marketplace: Marketplace
    buyer: str
    credit: int | None
    standing: Callable[[], StandingOffers]
    """Asks for its rates there, and for the offers that it may accept."""


@contextmanager
def opened_market(
    reach: NamedProvider | None, receipts: Path | None, beside: Engine[Any] | None = None, *, quietly: bool = False
) -> Iterator[Market]:
    """A provider, wherever it is, as its buyer sees it; None is a market without one."""
    if reach is None:
        yield Market(NobodySells(), LOCAL, None, lambda: StandingOffers(LIST, 0))
    elif is_url(reach.provider):
        with opened_remote(reach, quietly=quietly) as remote:
            account = remote.balance()
            name = f"{account.account} at {remote.url}"
            yield Market(keeping_receipts(remote, receipts), name, account.remaining, lambda: _standing(remote))
    else:
        name = buyer_name(reach.buyer)
        with opened_file(reach, beside) as opened:
            yield Market(
                OneCatalogue(opened.as_buyer(name)), name, None, lambda: _standing_in_process(reach, opened, name)
            )


def _standing(remote: pacas.RemoteProvider) -> StandingOffers:
    with suppress(RemoteError, InputError):  # a server of an earlier release makes none, nor does one that has gone
        if offers := [one for one in remote.offers() if one.stands]:
            account = remote.balance()
            return StandingOffers(account.schedule, account.listed, offers)
    return StandingOffers(LIST, 0)


def _standing_in_process(reach: NamedProvider, opened: Provider, buyer: str) -> StandingOffers:
    tab = opened.till.tab(buyer)
    offers = [one for one in _in_process().offers_to(reach.file, buyer) if one.stands]
    return StandingOffers(tab.schedule(opened.till.schedule), tab.listed, offers)


def _in_process() -> Any:
    """What opens a provider in this process: a buyer at a URL loads nothing of it."""
    return import_module("pacas.cli.opened_provider")


class OneCatalogue(Forwarding):
    """A marketplace that is asked once what it sells."""

    def catalogue(self) -> Mapping[str, Offer]:
        return self._catalogue

    @cached_property
    def _catalogue(self) -> Mapping[str, Offer]:
        return self._marketplace.catalogue()


def buyer_name(given: str | None) -> str:
    """Who buys from a provider in this process."""
    name = LOCAL if given is None else given
    check_buyer(name)
    return name


# ---- receipts ------------------------------------------------------------------------------------------------------


def check_receipts(provider: str, folder: Path | None) -> None:
    if folder is not None and not is_url(provider):
        raise InputError(
            f"--receipts goes with a provider at a URL; {provider} is a file, and its sales are not signed"
        )


def receipts_beside(output: Path) -> Path:
    """The folder for the receipts of a review, where no other is named; who goes on with its run keeps them there."""
    return output.with_name(f"{output.name}.receipts")


def keeping_receipts(marketplace: Marketplace, folder: Path | None) -> Marketplace:
    """The marketplace, with its receipts kept in a folder if one is named; the folder is made if it is not there."""
    if folder is None:
        return marketplace
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} is no folder for receipts, and cannot be made ({error.strerror})") from None
    return KeepingReceipts(marketplace, folder)


class KeepingReceipts(Forwarding):
    """Sells like the marketplace behind it, and writes each receipt to disk before the answer is seen."""

    def __init__(self, marketplace: Marketplace, folder: Path) -> None:
        super().__init__(marketplace)
        self._folder = folder
        self.kept: dict[str, str] = dict(_kept_in(folder))
        """The names of the files, by the purchase's key; those of an earlier run that is continued, too."""

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        told = super().pay(request, ceiling, key)
        self._keep(told, key)
        return told

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        told = super().pay_many(payments)
        for answer, payment in zip(told, payments, strict=False):
            self._keep(answer, payment.key)
        return told

    def _keep(self, told: Answer | Refusal, key: str) -> None:
        if isinstance(told, Refusal) or (told.receipt is None and not told.price):  # of a root, for nothing
            return
        if told.receipt is None:
            raise RemoteError("the provider has signed nothing; without --receipts, none is needed")
        name = file_name(told.receipt)
        self.kept[key] = name
        with replacing(self._folder / name) as partial:
            partial.write_text(ReceiptDocument.of(told.receipt).model_dump_json(indent=2) + "\n", "utf-8")


def _kept_in(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("receipt-*.json")):
        with suppress(FileError, OSError):  # somebody else's file is no receipt of ours
            yield read_receipts(path.read_bytes(), path.name)[0].receipt.idempotency_key, path.name


def file_name(signed: SignedReceipt) -> str:
    """A receipt's file is named after its entry in the ledger: a sale that is asked about again gets no second file."""
    mark = "".join(c for c in signed.receipt.hash[:12] if c in "0123456789abcdef")
    return f"receipt-{signed.receipt.sequence:08}-{mark}.json"
