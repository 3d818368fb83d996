"""Receipts: what is signed holds, and nothing else does."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import fields, replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pacas.errors import InputError
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes.receipts import ReceiptDocument
from pacas.wire.signatures import key_id, signed_bytes, verify

RECEIPT = Receipt(
    account="ann",
    attribute="MED",
    tuple={"GEN": "männlich", "AGE": None},
    level=1,
    answer="NSAID",
    price=700_000_000,
    idempotency_key="run:0",
    sequence=3,
    hash="ab" * 32,
)
KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


@pytest.fixture
def signed() -> SignedReceipt:
    return KEY.sign(RECEIPT)


def test_what_was_signed_holds(signed: SignedReceipt) -> None:
    assert verify(signed, KEY.public_key)
    assert signed.key_id == KEY.key_id == key_id(KEY.public_key)
    assert len(signed.key_id) == 16


def test_the_same_receipt_is_signed_alike_in_whatever_order_its_tuple_stands(signed: SignedReceipt) -> None:
    turned = replace(RECEIPT, tuple={"AGE": None, "GEN": "männlich"})
    assert KEY.sign(turned).signature == signed.signature


def test_what_is_signed_is_one_text_that_is_written_down() -> None:
    assert signed_bytes(RECEIPT, "0123456789abcdef").decode() == (
        'pacas receipt 1\n{"account":"ann","answer":"NSAID","attribute":"MED","hash":"' + "ab" * 32 + '",'
        '"idempotency_key":"run:0","key_id":"0123456789abcdef","level":1,"price":700000000,"sequence":3,'
        '"tuple":{"AGE":null,"GEN":"männlich"}}'
    )


def test_a_receipt_with_a_time_is_of_version_2() -> None:
    assert signed_bytes(replace(RECEIPT, time=1_800_000_000), "0123456789abcdef").decode() == (
        'pacas receipt 2\n{"account":"ann","answer":"NSAID","attribute":"MED","hash":"' + "ab" * 32 + '",'
        '"idempotency_key":"run:0","key_id":"0123456789abcdef","level":1,"price":700000000,"sequence":3,'
        '"time":1800000000,"tuple":{"AGE":null,"GEN":"männlich"}}'
    )


ALTERED: dict[str, list[Any]] = {
    "account": ["bob", "Ann", "ann "],
    "attribute": ["DIAG"],
    "tuple": [{}, {"GEN": "männlich"}, {"GEN": "männlich", "AGE": ""}, {"GEN": "x", "AGE": None}],
    "level": [0, 2],
    "answer": ["ibuprofen", "nsaid", ""],
    "price": [0, 700_000_001],
    "idempotency_key": ["run:1"],
    "sequence": [4],
    "hash": ["ac" * 32],
    "time": [0, 1_800_000_000],
}


def test_every_member_of_a_receipt_is_tried() -> None:
    assert set(ALTERED) == {field.name for field in fields(Receipt)}


@pytest.mark.parametrize(("member", "value"), [(name, value) for name, values in ALTERED.items() for value in values])
def test_an_altered_receipt_does_not_hold(signed: SignedReceipt, member: str, value: Any) -> None:
    assert not verify(replace(signed, receipt=replace(RECEIPT, **{member: value})), KEY.public_key)


def test_another_key_or_another_name_of_the_key_does_not_hold(signed: SignedReceipt) -> None:
    other = SigningKey.generate()
    assert not verify(signed, other.public_key)
    assert not verify(replace(signed, key_id=other.key_id), other.public_key)
    assert not verify(replace(signed, key_id=other.key_id), KEY.public_key)
    assert not verify(replace(other.sign(RECEIPT), key_id=KEY.key_id), KEY.public_key)


def test_every_altered_bit_of_a_signature_is_noticed(signed: SignedReceipt) -> None:
    raw = b64decode(signed.signature)
    for bit in range(8 * len(raw)):
        altered = bytearray(raw)
        altered[bit // 8] ^= 1 << bit % 8
        assert not verify(replace(signed, signature=b64encode(altered).decode()), KEY.public_key)


def test_a_signature_that_is_damaged_does_not_hold(signed: SignedReceipt) -> None:
    text = signed.signature
    for damaged in ("", text[:-4], text[:-1], text[1:], text + "A", text[:40] + " " + text[41:], "ä" + text[1:], "!"):
        assert not verify(replace(signed, signature=damaged), KEY.public_key)
    unread = (
        text[:-3]
        + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index(text[-3]) + 1
        ]
        + "=="
    )
    assert b64decode(unread) == b64decode(text), "only bits that nobody reads are altered"
    assert not verify(replace(signed, signature=unread), KEY.public_key)


def test_text_that_is_no_unicode_does_not_hold(signed: SignedReceipt) -> None:
    assert not verify(replace(signed, receipt=replace(RECEIPT, answer="\ud800")), KEY.public_key)


@pytest.mark.parametrize("pem", ["", "no key", KEY.public_key[:60], KEY.public_key.replace("PUBLIC", "PRIVATE")])
def test_a_public_key_that_is_none_is_bad_input(signed: SignedReceipt, pem: str) -> None:
    with pytest.raises(InputError, match="not a public Ed25519 key"):
        verify(signed, pem)


def test_a_receipt_is_the_same_after_it_was_a_document(signed: SignedReceipt) -> None:
    text = ReceiptDocument.of(signed).model_dump_json()
    assert ReceiptDocument.model_validate_json(text).signed() == signed


def test_reprs_hold_neither_keys_nor_values(signed: SignedReceipt) -> None:
    for shown in (repr(signed), repr(KEY), repr(ReceiptDocument.of(signed))):
        assert "NSAID" not in shown and "männlich" not in shown and signed.signature not in shown
    assert repr(KEY) == f"SigningKey({KEY.key_id})"
