"""The keys that a provider has signed with, one after the other: each hands over to the next, and both sign that.

**What is signed.** The bytes of the line `pacas key handover 1`, a line feed, and one JSON object as in `signatures`:
`key` and `next` (the 32 bytes of both public keys, in hex) and `time`. The earlier key's signature leads who knows it
to the next one; the next one's leads who knows that one back, to what was signed before.
"""

from __future__ import annotations

from itertools import pairwise

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import ValidationError

from pacas.errors import InputError
from pacas.wire.shapes.receipts import KeyAnswer
from pacas.wire.signatures import canonical, checked_key, is_signed, key_id, read_public_key


def handover_bytes(public_key: str, next_key: str, time: int) -> bytes:
    """The one text that two keys (PEM) sign where one follows the other."""
    key, after = (
        read_public_key(pem).public_bytes(Encoding.Raw, PublicFormat.Raw).hex() for pem in (public_key, next_key)
    )
    return canonical("key handover 1", {"key": key, "next": after, "time": time})


def joined_keys(published: KeyAnswer, known: str | None, where: str) -> dict[str, str]:
    """All keys of a published history, by their names; an InputError if one has not handed over to the next.

    `known`, a key in PEM, must be among them: then each is joined to it by signatures, and nothing else is believed.
    """
    keys = [checked_key(pem, where) for pem in (*(one.public_key for one in published.history), published.public_key)]
    for (key, after), one in zip(pairwise(keys), published.history, strict=True):
        said = handover_bytes(key, after, one.time)
        signed = ((one.signature, key), (one.countersignature, after))
        if not all(is_signed(said, signature, read_public_key(pem)) for signature, pem in signed):
            raise InputError(f"{where}: the key {key_id(key)} has not handed over to {key_id(after)}; ask the provider")
    named = {key_id(pem): pem for pem in keys}
    if known is not None and key_id(known) not in named:
        raise InputError(
            f"{where}: its key is not {key_id(known)}, which is known, and no signed history joins them; ask its keeper"
        )
    return named


def read_published(content: bytes, where: str) -> KeyAnswer:
    """What a provider publishes of its keys, as it says it at its `/v1/key`."""
    try:
        return KeyAnswer.model_validate_json(content)
    except ValidationError:
        raise InputError(f"{where} is not what a provider publishes at its /v1/key") from None
