"""`pacas key`: the key that signs a provider's receipts, and those before it."""

from __future__ import annotations

from time import time

from pacas.cli.opened_provider import read_provider
from pacas.cli.options import Json, ProviderArgument, command_group, out, print_json
from pacas.core.words import counted
from pacas.errors import FileError
from pacas.server.signing_key import SigningKey

app = command_group(
    """The key that signs a provider's receipts, and those before it.

    Example: pacas key rotate provider.toml
    """
)


@app.command("rotate")
def rotate(provider: ProviderArgument, json: Json = False) -> None:
    """Sign with a new key from the next start on. The old one signs that the new one follows it, and is removed.

    The history of keys is in the key's file, and published at /v1/key. Who knows one of them, such as a buyer with a
    connection file, follows it to the others, and receipts of before hold. A service that runs signs with the old key
    until it is started again. A key that was stolen can sign what it likes: hand out the new public key then.

    JSON: key_id, before (the key_id of the old one), public_key (PEM), keys (how many there were, the new one too)

    Example: pacas key rotate provider.toml
    """
    path = read_provider(provider).signing_key
    if not path.exists():
        raise FileError(f"{path} is not there: nothing was signed yet, and pacas serve makes a new key")
    old = SigningKey.load_or_create(path)
    new = old.rotate(path, int(time()))
    keys = len(new.published.history) + 1
    if json:
        print_json({"key_id": new.key_id, "before": old.key_id, "public_key": new.public_key, "keys": keys})
        return
    out.print(f"{path}: the key {new.key_id} follows {old.key_id}; {counted(keys, 'key')} in its history")
    out.print("Start the service again: it signs with the old key until then. Copy the file to its other machines.")
