"""A signed receipt as JSON: on the wire, and in the files that `pacas verify` reads."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from pacas.protocol.receipt import Receipt, SignedReceipt


class ReceiptDocument(BaseModel):
    """A signed receipt. What is signed is described with `pacas.wire.signatures`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    version: int = Field(ge=1, le=1, description="The form of the receipt and of what is signed: 1.")
    account: str = Field(description="Who bought.")
    attribute: str = Field(description="The attribute that was sold.")
    tuple: dict[str, str | None] = Field(description="The client's tuple, as far as it was sent.", repr=False)
    level: int = Field(ge=0, description="The level at which it was sold; 0 is ground.")
    answer: str = Field(description="What was sold.", repr=False)
    price: int = Field(ge=0, description="What it cost, in nanocredits.")
    idempotency_key: str = Field(description="The key of the purchase.", repr=False)
    sequence: int = Field(ge=1, description="The number of its entry in the provider's ledger.")
    hash: str = Field(description="The hash of that entry, in hex.")
    key_id: str = Field(description="Which of the provider's keys has signed: 16 hex digits.")
    signature: str = Field(description="The Ed25519 signature, in base64.", repr=False)

    @classmethod
    def of(cls, signed: SignedReceipt) -> ReceiptDocument:
        receipt = signed.receipt
        return cls(
            version=1,
            account=receipt.account,
            attribute=receipt.attribute,
            tuple=dict(receipt.tuple),
            level=receipt.level,
            answer=receipt.answer,
            price=receipt.price,
            idempotency_key=receipt.idempotency_key,
            sequence=receipt.sequence,
            hash=receipt.hash,
            key_id=signed.key_id,
            signature=signed.signature,
        )

    def signed(self) -> SignedReceipt:
        receipt = Receipt(
            account=self.account,
            attribute=self.attribute,
            tuple=self.tuple,
            level=self.level,
            answer=self.answer,
            price=self.price,
            idempotency_key=self.idempotency_key,
            sequence=self.sequence,
            hash=self.hash,
        )
        return SignedReceipt(receipt, self.key_id, self.signature)
