"""`pacas account`: who may ask a served provider, and how much each may spend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from ssl import PEM_FOOTER, PEM_HEADER, PEM_cert_to_DER_cert
from time import time
from typing import Annotated

import typer

from pacas.cli.opened_provider import kept_provider
from pacas.cli.options import Json, ProviderArgument, command_group, out, print_json, printable
from pacas.cli.provider.listed_accounts import account_as_json, print_accounts
from pacas.cli.provider.profile import seconds, written_profile
from pacas.core.money import in_credits, not_negative, rounded_text
from pacas.errors import FileError, InputError, StorageError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.provider.ledger.accounts import Account, Accounts, Role, check_credit, check_rate, new_token, token_hash
from pacas.provider.ledger.chain import Total
from pacas.provider.ledger.entry import NOTHING_BOUGHT
from pacas.storage.url import open_accounts, open_ledger, state_file
from pacas.wire.connection_file import moment

app = command_group(
    """Accounts of a provider's service: who may ask, and how much each may spend.

    Example: pacas account list provider.toml
    """
)

NO_LIMIT = "none"
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account, and the buyer's name in the ledger.")]
ProfileOption = Annotated[
    Path | None,
    typer.Option(metavar="BUYER.pacas", help="Write all that the buyer needs into a new file; it needs --url."),
]
UrlOption = Annotated[str | None, typer.Option(metavar="URL", help="With --profile: where the service answers.")]


@app.command("add")
def add(
    name: Name,
    provider: ProviderArgument,
    credit: Annotated[
        str | None, typer.Option(metavar="CREDITS", help="What it may spend in all; without it, no limit.")
    ] = None,
    role: Annotated[
        Role,
        typer.Option(
            help="A client buys; an operator sees accounts and metrics; reconcile is for OpenRefine, member for other "
            "providers of a circle."
        ),
    ] = Role.CLIENT,
    rate: Annotated[
        int | None,
        typer.Option(
            metavar="TUPLES", help="Tuples that it may ask about in a minute; without it, as many as everybody."
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="90d", help="How long the token counts: hours, days or weeks (12h, 90d, 4w).")
    ] = None,
    profile: ProfileOption = None,
    url: UrlOption = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The token counts with this client certificate only, PEM."),
    ] = None,
    json: Json = False,
) -> None:
    """Add an account and show its token, once: only a hash of it is kept.

    An account that was revoked gets a new token in this way, and keeps what it has bought. One of the role reconcile is
    for OpenRefine: its token stands in the address that OpenRefine is given, and it needs a --credit. With --profile
    the token is in the connection file, and not shown.

    JSON: account, token (not with --profile), role, credit, quotes_per_minute (null for that of the service); expires,
    profile, where asked for

    Example: pacas account add ann provider.toml --credit 10
    """
    if profile is not None and role in (Role.RECONCILE, Role.MEMBER):
        raise InputError(
            f"--profile is for who buys or watches; an account of the role {role.value} is given its token"
        )
    amount = None if credit is None else _amount(credit, "--credit")
    ends = None if expires is None else int(time()) + seconds(expires)
    file = kept_provider(provider)
    token = new_token()
    account = Account(name, role, amount, False, token_hash(token), rate, ends, certificate=_fingerprint(certificate))
    with _changing(file) as accounts, written_profile(profile, url, file, name, ends, token):
        accounts.add(account)
    more = ({} if ends is None else {"expires": moment(ends)}) | ({} if profile is None else {"profile": str(profile)})
    if json:
        shown = {} if profile is not None else {"token": token}
        terms = {"role": role.value, "credit": _credit(amount), "quotes_per_minute": rate}
        print_json({"account": name, **shown, **terms, **more})
        return
    kind = {Role.RECONCILE: "for OpenRefine", Role.OPERATOR: "an operator"}.get(role, f"a {role.value}")
    limited = "" if rate is None else f", {_rate_words(rate)}"
    until = "" if ends is None else f"; the token counts until {moment(ends)[:16].replace('T', ' ')} UTC"
    out.print(f"{printable(name)}: {kind}, {_in_words(amount)}{limited}{until}")
    if profile is not None:
        _print_written(profile)
    else:
        out.print(f"token: {token}", soft_wrap=True)  # in one piece, however narrow the terminal
        out.print(
            f"It is shown this once, and cannot be shown again; {_use(role, token, file.service.reconcile)}",
            soft_wrap=True,
        )


def _print_written(profile: Path) -> None:
    out.print(f"{profile} written: hand it over on a safe way; pacas clean … --provider {profile.name} uses it")


@app.command("list")
def list_(provider: ProviderArgument, json: Json = False) -> None:
    """List the accounts, what each may spend and has spent, and the terms that it has accepted.

    JSON: accounts (account, role, credit or null for no limit, spent, purchases, listed: list credits, terms: schedule
    (above, per_cent), prepaid, unused, until, or null; revoked, quotes_per_minute or null for that of the service;
    expires, if it does; certificate, if it is bound to one)

    Example: pacas account list provider.toml
    """
    file = kept_provider(provider)
    with _accounts(file) as accounts:
        found = accounts.list()
    with closing(open_ledger(file.ledger_url, file.folder)) as ledger:
        totals, tabs = ledger.totals(), ledger.tabs()
    bought = [(one, totals.get(one.name, Total()), tabs.get(one.name, NOTHING_BOUGHT)) for one in found]
    if json:
        print_json({"accounts": [account_as_json(*one, file.schedule()) for one in bought]})
    elif bought:
        print_accounts(bought, file.schedule())
    else:
        out.print("no accounts; pacas account add makes one")


@app.command("token")
def token(
    name: Name,
    provider: ProviderArgument,
    overlap: Annotated[
        str, typer.Option(metavar="1d", help="How long the present token still counts: hours, days or weeks.")
    ] = "1d",
    expires: Annotated[
        str | None, typer.Option(metavar="90d", help="How long the new token counts; without it, for ever.")
    ] = None,
    profile: ProfileOption = None,
    url: UrlOption = None,
    json: Json = False,
) -> None:
    """Give an account a new token, shown once; the present one counts until the overlap ends, and both till then.

    A token from before the present one counts no longer. To end a token at once, revoke the account and add it again.
    With --profile it is in a connection file, as pacas account add writes it, and not shown.

    JSON: account, token (not with --profile), previous_until; expires, profile, where asked for

    Example: pacas account token ann provider.toml --overlap 1d --expires 90d
    """
    now, made = int(time()), new_token()
    until = now + seconds(overlap, "--overlap")
    ends = None if expires is None else now + seconds(expires)
    file = kept_provider(provider)
    with _changing(file) as accounts:
        with written_profile(profile, url, file, name, ends, made):
            accounts.set_token(name, token_hash(made), ends, until)
        previous = next(one.previous_expires for one in accounts.list() if one.name == name) or until
    if json:
        more = {} if ends is None else {"expires": moment(ends)}
        shown = {"token": made} if profile is None else {"profile": str(profile)}
        print_json({"account": name, **shown, "previous_until": moment(previous), **more})
        return
    before = f"the one before counts until {moment(previous)[:16].replace('T', ' ')} UTC"
    if profile is not None:
        _print_written(profile)
        out.print(before)
    else:
        out.print(f"token: {made}", soft_wrap=True)
        out.print(f"It is shown this once; {before}")


@app.command("revoke")
def revoke(name: Name, provider: ProviderArgument, json: Json = False) -> None:
    """Let an account's token count no longer. What it has bought stays in the ledger.

    JSON: account, revoked

    Example: pacas account revoke ann provider.toml
    """
    with _changing(kept_provider(provider)) as accounts:
        accounts.revoke(name)
    _say(json, name, "revoked", True, "revoked; pacas account add gives it a new token")


@app.command("credit")
def credit(
    name: Name,
    provider: ProviderArgument,
    amount: Annotated[
        str, typer.Argument(metavar="CREDITS", help="What it may spend in all, with what it has spent; none: no limit.")
    ],
    json: Json = False,
) -> None:
    """Set what an account may spend in all, what it has spent already included.

    JSON: account, credit (null for no limit)

    Example: pacas account credit ann provider.toml 20
    """
    limit = None if amount.lower() == NO_LIMIT else _amount(amount, "CREDITS")
    with _changing(kept_provider(provider)) as accounts:
        accounts.set_credit(name, limit)
    _say(json, name, "credit", _credit(limit), _in_words(limit))


@app.command("certificate")
def certificate(
    name: Name,
    provider: ProviderArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The client's certificate, PEM; none: bound to none.")],
    json: Json = False,
) -> None:
    """Bind an account's tokens to a client certificate: over any other connection they count for nothing.

    The service must ask for certificates (pacas serve --client-ca). Clients give theirs with --cert and --cert-key.

    JSON: account, certificate (its SHA-256, or null)

    Example: pacas account certificate ann provider.toml none
    """
    bound = None if file.lower() == NO_LIMIT else _fingerprint(Path(file))
    with _changing(kept_provider(provider)) as accounts:
        accounts.set_certificate(name, bound)
    _say(
        json,
        name,
        "certificate",
        bound,
        f"bound to {'no certificate' if bound is None else f'the certificate {bound}'}",
    )


@app.command("rate")
def rate(
    name: Name,
    provider: ProviderArgument,
    tuples: Annotated[
        str, typer.Argument(metavar="TUPLES", help="Tuples that it may ask about in a minute; none: as many as all.")
    ],
    json: Json = False,
) -> None:
    """Set how many tuples an account may ask about in a minute, refusals and purchases included.

    JSON: account, quotes_per_minute (null for that of the service)

    Example: pacas account rate ann provider.toml 1000
    """
    limit = None if tuples.lower() == NO_LIMIT else _tuples(tuples)
    with _changing(kept_provider(provider)) as accounts:
        accounts.set_rate(name, limit)
    _say(json, name, "quotes_per_minute", limit, _rate_words(limit))


def _say(json: bool, name: str, member: str, value: object, words: str) -> None:
    """What has become of an account."""
    if json:
        print_json({"account": name, member: value})
    else:
        out.print(f"{printable(name)}: {words}")


@contextmanager
def _changing(file: ProviderFile) -> Iterator[Accounts]:
    """The accounts, to be changed; once something was sold, the ledger says so, and its state file counts that."""
    with closing(open_ledger(file.ledger_url, file.folder)) as ledger, _accounts(file) as accounts:
        yield accounts
        state = state_file(file.ledger_url, file.folder)
        with suppress(StorageError):  # the change is there, and a new token is still to be shown
            if state is not None and state.head() is not None and ledger.has_sales:
                state.write(ledger.head())


@contextmanager
def _accounts(file: ProviderFile) -> Iterator[Accounts]:
    with closing(open_accounts(file.ledger_url, file.folder)) as accounts:
        yield accounts


def _amount(given: str, what: str) -> int:
    check_credit(credit := not_negative(given, what))
    return credit


def _fingerprint(file: Path | None) -> str | None:
    """The SHA-256 of a certificate, the first in its file."""
    if file is None:
        return None
    try:
        text = file.read_text("latin-1")
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}); give a certificate in PEM") from None
    first = text[text.find(PEM_HEADER) :].partition(PEM_FOOTER)
    try:
        return sha256(PEM_cert_to_DER_cert(first[0] + first[1])).hexdigest()
    except ValueError:
        raise FileError(f"{file} holds no certificate in PEM") from None


def _tuples(given: str) -> int:
    if not given.isdecimal():
        raise InputError("TUPLES must be a whole number, or none for as many as everybody may ask about")
    check_rate(tuples := int(given))
    return tuples


def _rate_words(tuples: int | None) -> str:
    return "may ask as the service allows everybody" if tuples is None else f"may ask about {tuples:,} tuples a minute"


def _use(role: Role, token: str, reconcile: bool | str) -> str:
    """What a token is for; `reconcile` is the provider's setting."""
    if role is Role.MEMBER:
        return "a member keeps it in the file that token in [circle] names."
    if role is not Role.RECONCILE:
        return "a client gives it with --token or PACAS_TOKEN."
    address = reconcile if isinstance(reconcile, str) else "https://HOST:PORT"
    off = "" if reconcile else " (when provider.toml has reconcile = true in [service])"
    return f"in OpenRefine, add the standard service {address}/reconcile/{token}{off}"


def _credit(amount: int | None) -> float | None:
    return None if amount is None else in_credits(amount)


def _in_words(amount: int | None) -> str:
    return "may spend without a limit" if amount is None else f"may spend {rounded_text(amount)} credits in all"
