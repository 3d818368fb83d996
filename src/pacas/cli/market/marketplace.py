"""Providers at URLs: the options that say how one is reached, and the way there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.market.receipts import keeping_receipts
from pacas.cli.opened_provider import FROM_FILE, buyer_name, is_url, opened_provider, provider_path
from pacas.cli.options import progress
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import InputError
from pacas.protocol.marketplace import Marketplace
from pacas.remote.remote_provider import RemoteProvider

AnyProvider = Annotated[
    str, typer.Argument(metavar="PROVIDER", help="The provider's file, provider.toml, or its URL, https://….")
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", envvar="PACAS_TOKEN", metavar="TOKEN", help="With a URL: what opens the account there."),
]
CaOption = Annotated[
    Path | None, typer.Option("--ca", metavar="FILE", help="With a URL: the certificates of a private authority, PEM.")
]
CertOption = Annotated[
    Path | None, typer.Option("--cert", metavar="FILE", help="With a URL: the client's own certificate, PEM.")
]
CertKeyOption = Annotated[
    Path | None, typer.Option("--cert-key", metavar="FILE", help="With a URL: that certificate's private key, PEM.")
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="With a URL: send the token over plain http to another machine, too.")
]


@dataclass(frozen=True, slots=True)
class Reach:
    """How a provider is reached: what was given for a URL goes with a URL, and what is for a file with a file."""

    provider: str
    buyer: str | None
    token: str | None = field(repr=False)
    ca: Path | None
    cert: Path | None
    cert_key: Path | None
    insecure: bool
    engine: EngineChoice = FROM_FILE

    def __post_init__(self) -> None:
        if not is_url(self.provider):
            buyer_name(self.buyer)
            given = {"--ca": self.ca, "--cert": self.cert, "--cert-key": self.cert_key, "--insecure": self.insecure}
            for option, value in given.items():
                if value:
                    raise InputError(f"{option} goes with a provider at a URL; {self.provider} is a file")
        elif self.engine != FROM_FILE:
            raise InputError(
                "--engine, --master and --memory are for a provider's file; one at a URL has its own engine"
            )
        elif self.buyer is not None:
            raise InputError("--as is for a provider's file; at a URL the buyer is the account that the token opens")
        else:
            certificate_of(self.cert, self.cert_key)


def certificate_of(cert: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    """A client's certificate and its key, if they were given."""
    if cert is not None and key is not None:
        return cert, key
    if cert is not None or key is not None:
        raise InputError("--cert and --cert-key go together: a certificate, and its private key")
    return None


@contextmanager
def opened_remote(reach: Reach) -> Iterator[RemoteProvider]:
    """A provider at a URL for one command; it has said what it sells, and is left at the end."""
    certificate = certificate_of(reach.cert, reach.cert_key)
    token = reach.token.strip() if reach.token else None
    with RemoteProvider(
        reach.provider, token, ca=reach.ca, client_certificate=certificate, insecure=reach.insecure
    ) as remote:
        with progress() as tell:
            tell(f"asking {remote.url}")
            remote.catalogue()
        yield remote


@contextmanager
def opened_market(
    reach: Reach, receipts: Path | None, beside: Engine[Any] | None = None
) -> Iterator[tuple[Marketplace, str]]:
    """A provider, wherever it is, as its buyer sees it, and who that buyer is.

    `beside` is the client's engine, which may serve a provider in this process, too.
    """
    if is_url(reach.provider):
        with opened_remote(reach) as remote:
            yield keeping_receipts(remote, receipts), f"{remote.account_name()} at {remote.url}"
    else:
        name = buyer_name(reach.buyer)
        with opened_provider(provider_path(reach.provider), reach.engine, beside=beside) as opened:
            yield opened.as_buyer(name), name
