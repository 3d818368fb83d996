"""Receipts and tree heads that anybody can check: their Ed25519 signatures. Only `server.signing_key` can make one.

**What is signed, version 2.** The bytes of the line `pacas receipt 2`, a line feed, and one JSON object in UTF-8:
members sorted by code point, no white space, whole numbers only, and only `"`, `\\` and the characters below U+0020
escaped. Its members are those of the receipt (`account`, `answer`, `attribute`, `hash`, `idempotency_key`, `level`,
`price`, `sequence`, `time`, `tuple`) and `key_id`: the first 16 hex digits of the SHA-256 of the 32 bytes of the public
key. Version 1, of a sale whose entry has no time, has no `time`, and the line `pacas receipt 1`.

A tree head is signed in the same way, behind the line `pacas tree head 1`: `key_id`, `root` (hex), `size`, `time`. So
is a witness's cosignature of it, behind `pacas cosignature 1`, with the witness's own `key_id`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from pacas.errors import FileError, InputError
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import SignedTreeHead, TreeHead
from pacas.wire.connection_file import KEY_PATH

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def verify(signed: SignedReceipt, public_key: str) -> bool:
    """Whether a receipt is, in every detail, what the owner of the key (PEM) has signed."""
    key, name = _known_key(public_key)
    try:
        content = signed_bytes(signed.receipt, signed.key_id)
    except ValueError:  # text that is no Unicode
        return False
    return signed.key_id == name and is_signed(content, signed.signature, key)


def verify_head(signed: SignedTreeHead, public_key: str, *, is_witness: bool = False) -> bool:
    """Whether a tree head is what the owner of the key (PEM) has signed, or, as a witness, cosigned."""
    key, name = _known_key(public_key)
    content = head_bytes(signed.head, signed.key_id, is_witness=is_witness)
    return signed.key_id == name and is_signed(content, signed.signature, key)


def is_signed(content: bytes, signature: str, key: Ed25519PublicKey) -> bool:
    """Whether a signature, in base64, is the key's over these bytes."""
    try:
        raw = b64decode(signature, validate=True)
        if b64encode(raw).decode("ascii") != signature:  # bits that nobody reads could be altered
            return False
        key.verify(raw, content)
    except (InvalidSignature, NotBase64, ValueError):  # ValueError: not ASCII
        return False
    return True


def key_id(public_key: str) -> str:
    """The name of a public key (PEM)."""
    return _known_key(public_key)[1]


@lru_cache(maxsize=16)
def _known_key(public_key: str) -> tuple[Ed25519PublicKey, str]:
    """A key and its name: to read them takes longer than to verify a signature."""
    key = read_public_key(public_key)
    return key, id_of(key)


def read_public_key(public_key: str) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(public_key.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"not a public Ed25519 key in PEM; the provider's is at its {KEY_PATH}")
    return key


def read_key_file(path: str) -> str:
    """The public key that a file holds, in PEM."""
    try:
        pem = Path(path).read_text("ascii")
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give the provider's public key") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a key in PEM; the provider's is at its {KEY_PATH}") from None
    return checked_key(pem, path)


def checked_key(pem: str, where: str) -> str:
    """A public key in PEM, as it was found somewhere; an InputError if it is none."""
    if "PRIVATE KEY" in pem:
        raise InputError(f"{where} holds a private key, which only the provider should have; give the public one")
    try:
        read_public_key(pem)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return pem


def signed_bytes(receipt: Receipt, key_id: str) -> bytes:
    """The one text of a receipt that is signed."""
    return canonical(f"receipt {receipt.version}", receipt.members() | {"key_id": key_id})


def head_bytes(head: TreeHead, key_id: str, *, is_witness: bool = False) -> bytes:
    """The one text of a tree head that is signed, or cosigned."""
    what = "cosignature" if is_witness else "tree head"
    return canonical(f"{what} 1", head.members() | {"key_id": key_id})


def canonical(what: str, members: Mapping[str, Any]) -> bytes:
    """The one text of something that is signed: what it is, and its members."""
    return f"pacas {what}\n{_ENCODER.encode(members)}".encode()


def id_of(key: Ed25519PublicKey) -> str:
    """A public key's name: the first 16 hex digits of the SHA-256 of its 32 bytes."""
    return sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]
