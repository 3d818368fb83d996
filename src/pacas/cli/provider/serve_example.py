"""`pacas serve --example`: the paper's running example as a service that a newcomer can try at once."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from pacas.cli.demo.files import write_files
from pacas.core.money import nanocredits
from pacas.errors import InputError
from pacas.provider.ledger.accounts import Account, Accounts, Role, new_token, token_hash

FOLDER = Path("pacas-example")
CREDIT = 10


def write_example(named: str | None) -> Path:
    """The example's provider, with all the files that it and a client need, in a folder of their own."""
    if named is not None:
        raise InputError("--example brings its own provider; leave out the PROVIDER, or --example")
    write_files(FOLDER)
    return FOLDER / "provider.toml"


@dataclass(frozen=True, slots=True)
class Example:
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
