"""`pacas serve`: a provider as an HTTP service."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.data_options import EngineOption, MasterOption, MemoryOption
from pacas.cli.opened_provider import opened_provider, provider_path
from pacas.cli.options import Json, print_json
from pacas.cli.provider.serve_example import Example, write_example
from pacas.engine.choosing import EngineChoice
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.provider.ledger.accounts import Accounts
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.logs import make_log
from pacas.server.serving import ListeningAddress, Tls, serve
from pacas.server.signing_key import SigningKey
from pacas.storage.url import open_accounts

HOST, PORT = "127.0.0.1", 8321


def command(
    provider: Annotated[
        str | None, typer.Argument(metavar="PROVIDER", help="The provider's file, provider.toml.", show_default=False)
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = HOST,
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0 takes a free one.")] = PORT,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate, with its chain, in PEM.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="The certificate's key.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option("--client-ca", metavar="FILE", help="Only clients with a certificate signed by this one."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Serve other machines without TLS, where something else encrypts.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Make everything ready, say so, and end: nothing is served.")
    ] = False,
    example: Annotated[
        bool, typer.Option("--example", help="Serve the running example from ./pacas-example, with an account made.")
    ] = False,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Serve a provider over HTTP until it is stopped (Ctrl-C, SIGTERM); what was accepted by then is finished.

    One line on stdout says when and where it listens. The log, JSON lines on stderr, holds no token and no value.
    Clients need an account: pacas account add. With --check the same is made ready and nothing is served.

    JSON: url

    Example: pacas serve provider.toml --check
    """
    choice = EngineChoice(engine, master, memory)
    tls = _tls(tls_cert, tls_key, client_ca)
    context = None if tls is None else tls.context()
    address = ListeningAddress.of(host, port, tls=tls is not None, insecure=insecure)
    path = write_example(provider) if example else _path(provider)
    file = read_provider_file(path)
    settings = _settings(file)
    if check:
        with opened_provider(path, choice):
            SigningKey.load_or_create(file.signing_key)
            _warn_of_readers(file, tls)
            _say(json, f"ready to serve at {address.url()}", address.url())
        return
    with (
        closing(address.bind()) as listener,
        opened_provider(path, choice) as opened,
        closing(open_accounts(file.ledger_url, file.folder)) as accounts,
    ):
        log = make_log()
        app = create_app(opened, accounts, settings, SigningKey.load_or_create(file.signing_key), log=log)
        url = address.listen(listener)
        if example:
            here = address.url_here(listener.getsockname()[1])
            Example(path, here, tls_cert).invite(accounts)
        _warn_of_readers(file, tls)
        _warn_of_terms(path, file, accounts)
        serve(app, listener, log=log, context=context, announce=lambda: _say(json, f"listening on {url}", url))


def _path(named: str | None) -> Path:
    if named is None:
        raise InputError("give the PROVIDER.toml to serve, or --example (try 'pacas serve --help')")
    return provider_path(named)


def _tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> Tls | None:
    if certificate is not None and key is not None:
        return Tls(certificate, key, client_ca)
    if certificate is not None or key is not None:
        raise InputError("--tls-cert and --tls-key go together; give both")
    if client_ca is not None:
        raise InputError("--client-ca needs --tls-cert and --tls-key")
    return None


def _settings(file: ProviderFile) -> ServiceSettings:
    if file.ledger_url.lower().startswith("memory:"):
        raise ConfigError('ledger.url: a ledger in memory has no accounts; name a file, such as "sqlite:///shop.db"')
    section = file.service
    if file.built_hierarchies and not section.publish_built:
        raise ConfigError(
            f"hierarchies: {', '.join(file.built_hierarchies)} made from the data, and published with all values of "
            "the data; give a file with the domain, or publish_built = true in [service]"
        )
    return ServiceSettings(section.quotes_per_minute, section.max_body_bytes, section.max_batch, file.reasons)


def _warn_of_readers(file: ProviderFile, tls: Tls | None) -> None:
    """Keys that are no secret."""
    keys = {"the signing key": file.signing_key} | ({} if tls is None else {"the TLS key": tls.key})
    for what, path in keys.items():
        if path.stat().st_mode & 0o077:
            _warn(f"{path}, {what}, is open to others than its owner; chmod 600 {path}")


def _warn_of_terms(path: Path, file: ProviderFile, accounts: Accounts) -> None:
    """What the operator should know before the first call."""
    if file.seed() is not None:
        _warn(f"{path} gives a seed, and who guesses it reads more out of prices; leave it out, but for experiments")
    if not any(not account.revoked for account in accounts.list()):
        _warn(f"nobody has an account yet; add one: pacas account add NAME {path} --credit 10")


def _warn(line: str) -> None:
    print(f"pacas: {line}", file=sys.stderr)


def _say(json: bool, line: str, url: str) -> None:
    if json:
        print_json({"url": url})
    else:
        print(line)
    sys.stdout.flush()
