"""What several commands share: their options, and how they print."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleDimensions

from pacas.errors import InputError
from pacas.protocol.names import LOCAL

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; progress stays on stderr.")]
ProviderArgument = Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider's file, provider.toml.")]
BuyerOption = Annotated[
    str | None,
    typer.Option("--as", metavar="BUYER", help="With a file: the buyer's name.", show_default=LOCAL),
]
AnyProvider = Annotated[
    str,
    typer.Argument(
        metavar="PROVIDER", help="The provider's file, provider.toml, its URL, https://…, or a connection file."
    ),
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
PatienceOption = Annotated[
    float | None,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        min=1,
        help="With a URL: how long a provider that does not answer is waited for, and asked again.",
        show_default="90; 20 with several providers",
    ),
]
ReceiptsOption = Annotated[
    Path | None,
    typer.Option("--receipts", metavar="DIR", help="With a URL: a folder for the provider's receipts, a file each."),
]


def takes(parameter: str, make: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A command with all the options that `make` takes, in the place of a parameter, which is made of them."""
    options = signature(make, eval_str=True).parameters

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_options(**given: Any) -> Any:
            own = {name: given.pop(name) for name in options if name in given}
            return command(**given, **{parameter: make(**own)})

        before = signature(command, eval_str=True)
        taken: list[Parameter] = []
        for one in before.parameters.values():
            in_its_place = options.values() if one.name == parameter else (one,)
            taken += (option.replace(kind=Parameter.KEYWORD_ONLY) for option in in_its_place)
        with_options.__signature__ = before.replace(parameters=taken)  # type: ignore[attr-defined]
        with_options.__annotations__ = {one.name: one.annotation for one in taken}
        return with_options

    return decorated


@dataclass(frozen=True, slots=True, repr=False)
class HowToReach:
    """How a provider at a URL is reached, as the command line says it."""

    token: TokenOption = None
    ca: CaOption = None
    cert: CertOption = None
    cert_key: CertKeyOption = None
    insecure: InsecureOption = False

    @property
    def certificate(self) -> tuple[Path, Path] | None:
        """The client's own certificate and its key, if they were given."""
        if self.cert is not None and self.cert_key is not None:
            return self.cert, self.cert_key
        if self.cert is not None or self.cert_key is not None:
            raise InputError("--cert and --cert-key go together: a certificate, and its private key")
        return None


@dataclass(frozen=True, slots=True, repr=False)
class HowToBuy(HowToReach):
    """Who buys, how providers are reached and waited for, and where receipts go, as the command line says it."""

    buyer: BuyerOption = None
    receipts: ReceiptsOption = None
    patience: PatienceOption = None


AT_HAND = HowToBuy()
"""Nothing is said of it."""
says_how_to_reach, says_how_to_buy = takes("reach", HowToReach), takes("reach", HowToBuy)
"""A command with all these options, where it takes a `reach`."""


Tell = Callable[[str], None]
"""What is told what is going on."""

UNWRAPPED = 10_000
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class _Console(Console):
    """Prints values as they are, `[red]` and `:tada:` included, and wraps nothing unless it is a terminal."""

    def __init__(self) -> None:
        super().__init__(markup=False, emoji=False, highlight=False)

    @property  # type: ignore[misc]  # read-only: nobody sets it
    def size(self) -> ConsoleDimensions:
        if self.is_terminal or "COLUMNS" in os.environ:
            return super().size
        return ConsoleDimensions(UNWRAPPED, 25)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # how to end is for `main` to say


out = _Console()


def printable(value: str | None) -> str:
    """A value on one line: control characters are escaped, a null is empty."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value or "")


def cut(text: str, most: int = 60) -> str:
    """A text that leaves room for others beside it; JSON has all of it.

    >>> cut("a long story", 7), cut("short", 7)
    ('a long…', 'short')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def check_one_form(toml: bool, json: bool) -> None:
    if toml and json:
        raise InputError("--toml and --json are two ways to print; choose one")


def print_json(document: Mapping[str, Any]) -> None:
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    json.dump(document, sys.stdout, ensure_ascii=not unicode)
    sys.stdout.write("\n")


def show_help(context: typer.Context) -> None:
    """The help of a group of commands that was called without one."""
    if context.invoked_subcommand is None:
        context.get_help()  # prints it


def command_group(help: str) -> typer.Typer:
    """Several commands under one name, which by itself shows their help."""
    return typer.Typer(help=help, callback=show_help, invoke_without_command=True)


def is_url(named: str) -> bool:
    """Whether a provider is named by where it answers, not by its file."""
    return bool(_URL.match(named))


def names(text: str) -> tuple[str, ...]:
    """The attributes of `A,B`; double quotes protect a comma.

    >>> names('GEN, "ZIP, or postcode"')
    ('GEN', 'ZIP, or postcode')
    """
    try:
        listed = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InputError(f"cannot read a list of attributes such as GEN,AGE from {text[:80]!r}") from None
    return tuple(name.strip() for name in listed if name.strip())


@contextmanager
def progress() -> Iterator[Tell]:
    """Show what is going on, on stderr, if that is a terminal; stdout is left alone."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what: bar.update(task, description=printable(what))
