"""Receipts that anybody can check and only the provider can make: Ed25519 signatures.

**What is signed, version 1.** The bytes of the line `pacas receipt 1`, a line feed, and one JSON object in UTF-8:
members sorted by code point, no white space, whole numbers only, and only `"`, `\\` and the characters below U+0020
escaped. Its members are those of the receipt (`account`, `answer`, `attribute`, `hash`, `idempotency_key`, `level`,
`price`, `sequence`, `tuple`) and `key_id`: the first 16 hex digits of the SHA-256 of the 32 bytes of the public key.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from pacas.errors import FileError, InputError
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.storage.new_file import made_once

VERSION = 1
_HEAD = f"pacas receipt {VERSION}\n"
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class SigningKey:
    """A provider's private key. It is never shown; `public_key` is for everybody."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        public = key.public_key()
        self.public_key = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
        self.key_id = _key_id(public)

    @classmethod
    def generate(cls) -> SigningKey:
        """A new key that is kept nowhere."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load_or_create(cls, path: Path) -> SigningKey:
        """The key in a PEM file that only its owner can read; the file is made, whole or not at all, if it lacks.

        Of several processes that make it at once one is first, and all have its key.
        """
        if not os.path.lexists(path):
            _create(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"{path}, the signing key, cannot be read ({error.strerror})") from None
        try:
            key = load_pem_private_key(content, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):  # damaged, with a password, of an unknown kind
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise FileError(f"{path} is not a private Ed25519 key in PEM; restore it, or name another signing_key")
        return cls(key)

    def sign(self, receipt: Receipt) -> SignedReceipt:
        signature = self._key.sign(signed_bytes(receipt, self.key_id))
        return SignedReceipt(receipt, self.key_id, b64encode(signature).decode("ascii"))

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"


def verify(signed: SignedReceipt, public_key: str) -> bool:
    """Whether a receipt is, in every detail, what the owner of the key (PEM) has signed."""
    key = read_public_key(public_key)
    try:
        signature = b64decode(signed.signature, validate=True)
        if b64encode(signature).decode("ascii") != signed.signature:  # bits that nobody reads could be altered
            return False
        key.verify(signature, signed_bytes(signed.receipt, signed.key_id))
    except (InvalidSignature, NotBase64, ValueError):  # ValueError: text that is no Unicode, or not ASCII
        return False
    return signed.key_id == _key_id(key)


def key_id(public_key: str) -> str:
    """The name of a public key (PEM)."""
    return _key_id(read_public_key(public_key))


def read_public_key(public_key: str) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(public_key.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError("not a public Ed25519 key in PEM; the provider's is at its /v1/key")
    return key


def signed_bytes(receipt: Receipt, key_id: str) -> bytes:
    """The one text of a receipt that is signed."""
    members = {
        "account": receipt.account,
        "answer": receipt.answer,
        "attribute": receipt.attribute,
        "hash": receipt.hash,
        "idempotency_key": receipt.idempotency_key,
        "key_id": key_id,
        "level": receipt.level,
        "price": receipt.price,
        "sequence": receipt.sequence,
        "tuple": dict(receipt.tuple),
    }
    return (_HEAD + _ENCODER.encode(members)).encode()


def _key_id(key: Ed25519PublicKey) -> str:
    return sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def _create(path: Path) -> None:
    """A new key, which stands there whole or not at all; one that another process made first is kept."""
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        with made_once(path) as made, made.open("wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"{path}, the signing key, cannot be made in its folder ({error.strerror})") from None
