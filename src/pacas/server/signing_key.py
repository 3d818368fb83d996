"""The provider's private key: what signs receipts. No client's code can import it."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from pacas.errors import FileError
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import SignedTreeHead, TreeHead
from pacas.storage.new_file import made_once
from pacas.wire.signatures import head_bytes, id_of, signed_bytes


class SigningKey:
    """A provider's private key. It is never shown; `public_key` is for everybody."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        public = key.public_key()
        self.public_key = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
        self.key_id = id_of(public)

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

    def sign_head(self, head: TreeHead, *, is_witness: bool = False) -> SignedTreeHead:
        """Sign a tree head as its provider, or cosign another's as a witness."""
        signature = self._key.sign(head_bytes(head, self.key_id, is_witness=is_witness))
        return SignedTreeHead(head, self.key_id, b64encode(signature).decode("ascii"))

    def derived(self, purpose: bytes, length: int) -> bytes:
        """Another secret, for one purpose, the same wherever this key is."""
        raw = self._key.private_bytes_raw()
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=purpose).derive(raw)

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"


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
