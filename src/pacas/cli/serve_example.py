"""`pacas serve --example`: the paper's running example as a service that a newcomer can try at once."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from pacas.cli.demo_files import write_files
from pacas.core.money import nanocredits
from pacas.errors import InputError
from pacas.provider.accounts import Account, Accounts, Role, new_token, token_hash

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
    """The example, served at a URL."""

    path: Path
    url: str

    def invite(self, accounts: Accounts) -> None:
        """Make an account, a new one at each start as tokens are not kept, and print the line to try."""
        token = new_token()
        name = f"guest-{len(accounts.list()) + 1}"
        accounts.add(Account(name, Role.CLIENT, nanocredits(CREDIT), False, token_hash(token)))
        line = ["pacas", "clean", str(self.path.parent / "client.toml"), "--provider", self.url, "--token", token]
        line += ["--budget", "2", "--output", str(self.path.parent / f"{name}.csv")]
        print(
            f"The account {name} has {CREDIT} credits. In another terminal, try:\n\n  {shlex.join(line)}\n",
            file=sys.stderr,
        )
