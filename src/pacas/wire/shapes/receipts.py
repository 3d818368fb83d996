"""Receipts, the log that their entries are in, with signed heads and proofs, and the keys that sign them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import FailFast, Field, ValidationInfo, field_validator

from pacas.protocol.messages import LARGEST
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import LoggedEntry, SignedTreeHead, TreeHead
from pacas.wire.shapes.base import ClientShape, Digest, DocumentShape, ServerShape

MOST_KEYS = 1000
"""Keys that a provider may have signed with before the present one."""
MOST_PROOFS = 1000
"""Proofs of each kind that are asked for in one call."""
Sizes = Annotated[list[Annotated[int, Field(ge=1, le=LARGEST)]], FailFast(), Field(max_length=MOST_PROOFS)]


class ProofsBody(ClientShape):
    """Which proofs are asked for."""

    size: Annotated[int, Field(ge=1, le=LARGEST, description="How many entries the log had in the head to prove for.")]
    heads: Sizes = Field([], description="The sizes of earlier heads.")
    entries: Sizes = Field([], description="The sequence numbers of entries.")


class TreeHeadDocument(DocumentShape):
    """A signed head of the provider's log. What is signed is described with `pacas.wire.signatures`."""

    size: int = Field(ge=0, le=LARGEST, description="How many entries the log has; 0 until something was sold.")
    root: Digest = Field(description="The root of their Merkle tree (RFC 6962), in hex.")
    time: int = Field(ge=0, le=LARGEST, description="When it was signed: seconds since 1970, UTC.")
    key_id: str = Field(description="Which key has signed: 16 hex digits.")
    signature: str = Field(description="The Ed25519 signature, in base64.", repr=False)

    @classmethod
    def of(cls, signed: SignedTreeHead) -> TreeHeadDocument:
        return cls(**signed.head.members(), key_id=signed.key_id, signature=signed.signature)

    def signed(self) -> SignedTreeHead:
        return SignedTreeHead(TreeHead(self.size, self.root, self.time), self.key_id, self.signature)


class LoggedEntryDocument(DocumentShape):
    """That an entry is in the provider's log."""

    head: TreeHeadDocument
    path: list[Digest] = Field(description="The inclusion proof: hashes in hex, from the leaf to the root.", repr=False)

    @classmethod
    def of(cls, logged: LoggedEntry) -> LoggedEntryDocument:
        return cls(head=TreeHeadDocument.of(logged.signed_head), path=list(logged.path))

    def logged(self) -> LoggedEntry:
        return LoggedEntry(self.head.signed(), tuple(self.path))


class ProofsAnswer(ServerShape):
    """Proofs for the log as it was with so many entries."""

    consistency: list[list[Digest]] = Field(description="Of each earlier head, in order: that nothing was forgotten.")
    inclusion: list[list[Digest]] = Field(description="Of each entry, in order: that it is in the log.")


class ReceiptDocument(DocumentShape):
    """A signed receipt. What is signed is described with `pacas.wire.signatures`."""

    version: int = Field(
        ge=1, le=2, description="The form of the receipt and of what is signed: 2, or 1 without a time."
    )
    account: str = Field(description="Who bought.")
    attribute: str = Field(description="The attribute that was sold.")
    tuple: dict[str, str | None] = Field(description="The client's tuple, as far as it was sent.", repr=False)
    level: int = Field(ge=0, description="The level at which it was sold; 0 is ground.")
    answer: str = Field(description="What was sold.", repr=False)
    price: int = Field(ge=0, description="What it cost, in nanocredits.")
    idempotency_key: str = Field(description="The key of the purchase.", repr=False)
    sequence: int = Field(ge=1, description="The number of its entry in the provider's ledger.")
    hash: str = Field(description="The hash of that entry, in hex.")
    time: int | None = Field(
        None,
        ge=0,
        validate_default=True,
        exclude_if=lambda time: time is None,
        description="When it was sold: seconds since 1970, UTC. From version 2 on.",
    )
    key_id: str = Field(description="Which of the provider's keys has signed: 16 hex digits.")
    signature: str = Field(description="The Ed25519 signature, in base64.", repr=False)
    log: LoggedEntryDocument | None = Field(
        None,
        exclude_if=lambda log: log is None,
        description="That the entry is in the provider's log; it is signed by itself. Earlier receipts have none.",
    )

    @classmethod
    def of(cls, signed: SignedReceipt) -> ReceiptDocument:
        receipt = signed.receipt
        log = None if signed.logged is None else LoggedEntryDocument.of(signed.logged)
        members = receipt.members() | {"key_id": signed.key_id, "signature": signed.signature, "log": log}
        return cls(version=receipt.version, **members)

    @field_validator("time")
    @classmethod
    def _from_version_2_on(cls, time: int | None, info: ValidationInfo) -> int | None:
        if "version" in info.data and (info.data["version"] == 2) != (time is not None):
            raise ValueError("a receipt has a time from version 2 on")
        return time

    def signed(self) -> SignedReceipt:
        receipt = Receipt(**self.model_dump(exclude={"version", "key_id", "signature", "log"}))
        return SignedReceipt(receipt, self.key_id, self.signature, None if self.log is None else self.log.logged())


class KeyHandover(ServerShape):
    """A key that was used before, and its word that the next one follows it: the next in the list, or the present."""

    public_key: str = Field(description="In PEM.")
    time: int = Field(ge=0, le=LARGEST, description="When it was followed: seconds since 1970, UTC.")
    signature: str = Field(description="Its own signature over that, Ed25519 in base64.")
    countersignature: str = Field(description="The next key's signature over the same.")


class KeyAnswer(ServerShape):
    """The key that receipts are verified with, and those before it: what is signed is in `pacas.wire.key_history`."""

    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: str = Field(description="In PEM.")
    history: list[KeyHandover] = Field(default=[], max_length=MOST_KEYS, description="Earlier keys, the first first.")
