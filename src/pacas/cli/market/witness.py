"""`pacas witness`: somebody else who has seen a provider's log, and says so."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pacas.cli.options import AT_HAND, HowToReach, Json, out, print_json, says_how_to_reach
from pacas.core.words import counted
from pacas.remote.heads_file import HeadsFile
from pacas.remote.provider_log import ProviderLog
from pacas.server.signing_key import SigningKey
from pacas.wire.signatures import read_key_file, verify_head


@says_how_to_reach
def command(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the provider answers, https://….")],
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="The provider's public key: a PEM file.")],
    heads: Annotated[
        Path, typer.Option(metavar="FILE", help="The heads that were cosigned: what clients take as --witnessed.")
    ] = Path("witnessed-heads.jsonl"),
    signing_key: Annotated[
        Path,
        typer.Option("--signing-key", metavar="FILE", help="The witness's own private key; made if it is not there."),
    ] = Path("witness-key.pem"),
    reach: HowToReach = AT_HAND,
    json: Json = False,
) -> None:
    """Cosign the head of a provider's log, if it has grown out of the last one that was seen.

    The log has hashes and no values. Run it now and then, from another machine than the provider's; an account with
    the credit 0 is enough. Its public key stands beside its private one, in a file that ends with .pub. Clients that
    give the heads to pacas verify --log know that the log that they are shown is the one that the witness was shown.

    Exit code 0: cosigned; 1: the log has forgotten or altered something, and nothing was cosigned.

    JSON: cosigned, problems, head (size, root, time, key_id, signature), key_id of the witness

    Example: pacas witness https://provider.example --key provider.pem
    """
    own, seen = SigningKey.load_or_create(signing_key), HeadsFile(heads)
    signing_key.with_name(f"{signing_key.name}.pub").write_text(own.public_key, "ascii")
    before = [one.head for one in seen.read() if verify_head(one, own.public_key, is_witness=True)]
    certificate, insecure = reach.certificate, reach.insecure
    with ProviderLog(
        url, reach.token, read_key_file(key), ca=reach.ca, client_certificate=certificate, insecure=insecure
    ) as log:
        now = log.head().head
        problems = list(log.problems(now, before[-1:]))
    if not problems:
        seen.add(own.sign_head(now, is_witness=True))
    if json:
        shown = import_module("pacas.wire.shapes.receipts").TreeHeadDocument.of(own.sign_head(now, is_witness=True))
        told = {} if problems else {"head": shown.model_dump()}
        print_json({"cosigned": not problems, "problems": problems, **told, "key_id": own.key_id})
    elif problems:
        for problem in problems:
            out.print(Text(problem, style="bold red"))
    else:
        out.print(f"cosigned: the log of {counted(now.size, 'entry', 'entries')}, with the key {own.key_id}")
    if problems:
        raise typer.Exit(1)
