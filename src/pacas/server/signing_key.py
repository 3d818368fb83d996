"""The provider's private key: what signs receipts. No client's code can import it."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
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
from pydantic import ValidationError

from pacas.errors import FileError, InputError
from pacas.formats.replacing import replacing
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import SignedTreeHead, TreeHead
from pacas.storage.new_file import made_once
from pacas.wire.key_history import handover_bytes, joined_keys
from pacas.wire.shapes.receipts import KeyAnswer, KeyHandover
from pacas.wire.signatures import head_bytes, id_of, signed_bytes

_CHECKPOINT = b"pacas checkpoint\n"
"""What is signed begins with what it is: no receipt and no head does so."""


class SigningKey:
    """A provider's private key. It is never shown; `public_key` is for everybody."""

    def __init__(self, key: Ed25519PrivateKey, history: Sequence[KeyHandover] = ()) -> None:
        self._key = key
        public = key.public_key()
        self.public_key = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
        self.key_id = id_of(public)
        self.published = KeyAnswer(public_key=self.public_key, history=list(history))
        """This key and those before it, as everybody may know them."""
        self._names = joined_keys(self.published, None, "the signing key")

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
            pem, *handovers = content.split(b"\n{")
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):  # damaged, with a password, of an unknown kind
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise FileError(f"{path} is not a private Ed25519 key in PEM; restore it, or name another signing_key")
        try:
            return cls(key, [KeyHandover.model_validate_json(b"{" + line) for line in handovers])
        except (ValidationError, InputError):
            raise FileError(f"{path}: what it says of earlier keys does not hold; restore it") from None

    def rotate(self, path: Path, time: int) -> SigningKey:
        """A new key in the file's place, and in it that this one has handed over to it; no copy of this one is left.

        The history stands in the key's own file: both change in one step, and who copies one copies the other.
        """
        after = Ed25519PrivateKey.generate()
        said = handover_bytes(self.public_key, SigningKey(after).public_key, time)
        signed = (b64encode(key.sign(said)).decode("ascii") for key in (self._key, after))
        handover = dict(zip(("signature", "countersignature"), signed, strict=True))
        one = KeyHandover(public_key=self.public_key, time=time, **handover)
        made = SigningKey(after, [*self.published.history, one])
        lines = [_pem(after), *(one.model_dump_json().encode() + b"\n" for one in made.published.history)]
        path = path.resolve()
        before = path.stat()
        with replacing(path) as partial:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(lines)
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        return made

    def public_key_of(self, key_id: str) -> str:
        """The public key of that name among this one and those before it; this one's, if there is none."""
        return self._names.get(key_id, self.public_key)

    def sign(self, receipt: Receipt) -> SignedReceipt:
        signature = self._key.sign(signed_bytes(receipt, self.key_id))
        return SignedReceipt(receipt, self.key_id, b64encode(signature).decode("ascii"))

    def sign_head(self, head: TreeHead, *, is_witness: bool = False) -> SignedTreeHead:
        """Sign a tree head as its provider, or cosign another's as a witness."""
        signature = self._key.sign(head_bytes(head, self.key_id, is_witness=is_witness))
        return SignedTreeHead(head, self.key_id, b64encode(signature).decode("ascii"))

    def sign_checkpoint(self, text: bytes) -> str:
        """Sign what this provider has known of its ledger, for its own eyes."""
        return b64encode(self._key.sign(_CHECKPOINT + text)).decode("ascii")

    def has_signed_checkpoint(self, text: bytes, signature: str) -> bool:
        """Whether this key, and none before it, has signed that."""
        try:
            self._key.public_key().verify(b64decode(signature, validate=True), _CHECKPOINT + text)
        except (ValueError, InvalidSignature):
            return False
        return True

    def derived(self, purpose: bytes, length: int) -> bytes:
        """Another secret, for one purpose, the same wherever this key is."""
        raw = self._key.private_bytes_raw()
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=purpose).derive(raw)

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"


def _pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _create(path: Path) -> None:
    """A new key, which stands there whole or not at all; one that another process made first is kept."""
    try:
        with made_once(path) as made, made.open("wb") as file:
            file.write(_pem(Ed25519PrivateKey.generate()))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"{path}, the signing key, cannot be made in its folder ({error.strerror})") from None
