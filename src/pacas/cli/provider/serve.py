"""`pacas serve`: a provider as an HTTP service."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.demo.files import write_files
from pacas.cli.opened_provider import opened_provider, opened_with_engine, read_provider
from pacas.cli.options import Json, print_json, printable
from pacas.cli.provider.findings import Looked, look_at
from pacas.core.money import nanocredits
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import ConfigError, InputError, StorageError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.opening.described_provider import files_of
from pacas.provider.ledger.accounts import Account, Accounts, Role, new_token, token_hash
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import PAPER_QUOTES, QuoteMode
from pacas.server.app import Beside, create_app
from pacas.server.http.connections import ConnectionLimits
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.monitoring.presence import Presence
from pacas.server.serving import ListeningAddress, Tls, most_connections, serve
from pacas.server.signing_key import SigningKey
from pacas.storage.url import open_accounts, open_kept_house, open_offers, open_serving, state_file

HOST, PORT = "127.0.0.1", 8321
EXAMPLE = Path("pacas-example")
CREDIT = 10
"""What the account of the example may spend, in credits."""


@chooses_an_engine
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
        bool, typer.Option("--example", help="Serve the running example, at sealed quotes, from ./pacas-example.")
    ] = False,
    console: Annotated[
        bool, typer.Option("--console", help="Pages for operators, at /console: sales, margins, accounts, the ledger.")
    ] = False,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Serve a provider over HTTP until it is stopped (Ctrl-C, SIGTERM); what was accepted by then is finished.

    One line on stdout says when and where it listens. The log, JSON lines on stderr, holds no token and no value.
    Clients need an account: pacas account add. With --check the same is made ready and nothing is served. The
    console asks for the token of an account whose role is operator.

    JSON: url

    Example: pacas serve provider.toml --check
    """
    tls = _tls(tls_cert, tls_key, client_ca)
    context = None if tls is None else tls.context()
    address = ListeningAddress.of(host, port, tls=tls is not None, insecure=insecure)
    file = read_provider(str(write_example(provider)) if example else _named(provider))
    settings = _settings(file)
    if check:
        with opened_provider(file, engine):
            SigningKey.load_or_create(file.signing_key)
            _warn_of_readers(file, tls)
            _say(json, f"ready to serve at {address.url()}", address.url())
        return
    with (
        closing(address.bind()) as listener,
        opened_with_engine(file, engine) as (opened, asked),
        closing(open_accounts(file.ledger_url, file.folder)) as accounts,
        closing(open_offers(file.ledger_url, file.folder)) as offers,
        ExitStack() as stack,
    ):
        stack.enter_context(_noting_heads(file, opened))
        log, signing = make_log(), SigningKey.load_or_create(file.signing_key)
        findings, leak = warn_of_findings(file, opened, asked)
        beside: Beside | None = None
        if console:  # what it needs is loaded only then
            opened_console = import_module("pacas.cli.provider.console").opened_console
            beside = stack.enter_context(opened_console(file, opened, asked, (findings, leak)))
        presence = stack.enter_context(present(file, signing))
        house = open_kept_house(file.ledger_url, file.folder) if file.service.clearing_house else None
        if house is not None:
            stack.callback(house.close)
        app = create_app(
            opened, accounts, settings, signing, log=log, beside=beside, presence=presence, offers=offers, house=house
        )
        url = address.listen(listener)
        if console:
            _say_where_the_console_is(address.url_here(listener.getsockname()[1]), file, accounts)
        if example:
            here = address.url_here(listener.getsockname()[1])
            ServedExample(file.path, here, tls_cert).invite(accounts)
        _warn_of_readers(file, tls)
        _warn_of_terms(file, accounts)
        if client_ca is None and any(one.certificate and not one.revoked for one in accounts.list()):
            _warn("some accounts are bound to a certificate, and nobody is asked for one: give --client-ca")
        warn_of_writers(file)
        if insecure and tls is None and file.service.reconcile is True:
            _warn(
                f"{file.path}: reconcile = true sends OpenRefine to http://, token and all; give the https:// address"
            )
        section = file.service
        limits = ConnectionLimits(
            section.connections_per_address, most_connections(), section.idle_seconds, section.request_seconds
        )
        told = f"listening on {url}"
        serve(app, listener, log=log, context=context, limits=limits, announce=lambda: _say(json, told, url))


@contextmanager
def present(file: ProviderFile, signing: SigningKey) -> Iterator[Presence]:
    """This process, noted beside the ledger while it serves."""
    terms = {"reasons": str(file.reasons), "history": file.history, "signing_key": signing.key_id}
    floor = sorted((attribute, level) for attribute, level in file.floor.items() if level)
    terms |= {"max_matches": str(file.max_matches), "floor": str(floor)}  # no ledger fixes them
    with closing(open_serving(file.ledger_url, file.folder)) as processes:
        presence = Presence(processes, terms)
        presence.enter()
        try:
            yield presence
        finally:
            with suppress(StorageError):  # it is forgotten by itself
                presence.leave()


@contextmanager
def _noting_heads(file: ProviderFile, provider: Provider) -> Iterator[None]:
    """Note in the state file what the ledger holds, so that the next start knows if it was put back, or is gone."""
    state = state_file(file.ledger_url, file.folder)
    assert state is not None  # a ledger in memory is not served
    try:
        state.write(provider.till.known)
    except StorageError as error:
        _warn(f"{error}: a ledger that is put back while nothing is served is not noticed")
    provider.till.note, provider.till.note_lost = state.note, state.write
    try:
        yield
    finally:
        with suppress(StorageError):  # what went back was noted then, and may have been put back on purpose since
            provider.ledger.check_holds(provider.till.known)
            state.write(provider.till.known)


def _named(named: str | None) -> str:
    if named is None:
        raise InputError("give the PROVIDER.toml to serve, or --example (try 'pacas serve --help')")
    return named


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
    if not section.publish_built and (built := file.built_among(file.match)):
        raise ConfigError(
            f"hierarchies: {', '.join(built)} made from the data, and published with all values of "
            "the data; give a file with the domain, or publish_built = true in [service]"
        )
    return ServiceSettings(
        section.quotes_per_minute,
        section.max_body_bytes,
        section.max_batch,
        file.reasons,
        section.publish_prices,
        section.reconcile,
    )


def _warn_of_readers(file: ProviderFile, tls: Tls | None) -> None:
    """Warn of private keys that others than their owner can read."""
    keys = {"the signing key": file.signing_key} | ({} if tls is None else {"the TLS key": tls.key})
    for what, path in keys.items():
        if path.stat().st_mode & 0o077:
            _warn(f"{path}, {what}, is open to others than its owner; chmod 600 {path}")


def warn_of_writers(file: ProviderFile) -> None:
    """Warn of files that everybody on the machine may write to, and of being who may write to all of them."""
    if os.name != "posix":
        return
    for path in dict.fromkeys(one for kept in files_of(file) for one in (kept, kept.parent)):
        mode = path.stat().st_mode if path.exists() else 0
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            _warn(f"{path} can be written by everybody on this machine; chmod o-w {path}")
    if os.geteuid() == 0:
        _warn("this runs as root; give the service a user of its own, who owns its files and nothing else")


def _warn_of_terms(file: ProviderFile, accounts: Accounts) -> None:
    """What the operator should know before the first call."""
    if file.quotes is QuoteMode.PAPER:
        _warn(PAPER_QUOTES)
    if file.seed() is not None:
        _warn(
            f"{file.path} gives a seed, and who guesses it reads more out of prices; leave it out, but for experiments"
        )
    if not any(not account.revoked for account in accounts.list()):
        _warn(f"nobody has an account yet; add one: pacas account add NAME {file.path} --credit 10")


def warn_of_findings(file: ProviderFile, provider: Provider, engine: Engine[Any]) -> Looked:
    """Say what free quotes tell, and what the linter has found: rules and attributes, no more."""
    findings, told = look_at(file, provider, engine)
    if told:
        _warn(told)
    found = [
        one
        for one in findings
        if (one.severity != "note" or one.rule == "unprotected") and one.rule != "free-quotes-tell"
    ]  # the last is said in full
    for finding in found:
        _warn(f"{finding.severity}: {finding.rule}: {printable(finding.attribute)}")
    if found:
        _warn(f"pacas lint {file.path} says more of these, and what mends them")
    return findings, told


def _say_where_the_console_is(url: str, file: ProviderFile, accounts: Accounts) -> None:
    print(f"The console is at {url}/console; it asks for an operator's token.", file=sys.stderr)
    if not any(account.role is Role.OPERATOR and not account.revoked for account in accounts.list()):
        _warn(f"nobody is an operator yet; add one: pacas account add NAME {file.path} --role operator")


def _warn(line: str) -> None:
    """Say it on stderr; in red, where that is a terminal."""
    typer.secho(f"pacas: {line}", fg="red", err=True)


def _say(json: bool, line: str, url: str) -> None:
    if json:
        print_json({"url": url})
    else:
        print(line)
    sys.stdout.flush()


# ---- --example: the running example as a service that a newcomer can try at once -----------------------------------


def write_example(named: str | None) -> Path:
    """The example's provider, with all the files that it and a client need, in a folder of their own."""
    if named is not None:
        raise InputError("--example brings its own provider; leave out the PROVIDER, or --example")
    write_files(EXAMPLE)
    return EXAMPLE / "provider.toml"


@dataclass(frozen=True, slots=True)
class ServedExample:
    """The example, served at a URL, with TLS if there is a certificate: a client is to trust just that one."""

    path: Path
    url: str
    certificate: Path | None = None

    def invite(self, accounts: Accounts) -> None:
        """Make an account, a new one at each start as tokens are not kept, and print the line to try."""
        token = new_token()
        name = f"guest-{len(accounts.list()) + 1}"
        accounts.add(Account(name, Role.CLIENT, nanocredits(CREDIT), False, token_hash(token)))
        line = [f"PACAS_TOKEN={token}", program(), "clean", str(self.path.parent / "client.toml")]
        line += ["--provider", self.url]
        line += [] if self.certificate is None else ["--ca", str(self.certificate)]
        line += ["--budget", "2", "--output", str(self.path.parent / f"{name}.csv")]
        print(
            f"The account {name} has {CREDIT} credits. In another terminal, try:\n\n  {shlex.join(line)}\n",
            file=sys.stderr,
        )


def program() -> str:
    """How the shell finds this program: by its name, or by a path, from here where it lies below."""
    beside = Path(sys.executable).with_name("pacas")
    run = Path(os.path.abspath(sys.argv[0]))
    path = run if run.name == beside.name and run.is_file() else beside
    known = shutil.which(path.name)
    if not path.is_file() or (known is not None and os.path.samefile(known, path)):
        return path.name
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
