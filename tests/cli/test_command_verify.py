"""`pacas verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pacas.protocol.receipt import Receipt
from pacas.server.signing_key import SigningKey
from pacas.wire.shapes.receipts import ReceiptDocument

KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
VERIFY = ("verify", "receipt.json", "--key", "key.pem")


def document(answer: str = "NSAID", key: SigningKey = KEY) -> dict[str, Any]:
    tuple_ = {"GEN": "male", "AGE": None}
    receipt = Receipt("ann", "MED", tuple_, 1, answer, 700_000_000, "run:0", 3, "ab" * 32)
    return ReceiptDocument.of(key.sign(receipt)).model_dump()


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "key.pem").write_text(KEY.public_key)
    write(folder, document())


def write(folder: Path, content: Any) -> None:
    (folder / "receipt.json").write_text(json.dumps(content))


def test_the_json_has_the_promised_shape(pacas: Any) -> None:
    result = pacas(*VERIFY, "--json")
    assert result.code == 0
    assert result.document == {
        "holds": True,
        "receipts": [
            {
                "holds": True,
                "file": "receipt.json",
                "account": "ann",
                "attribute": "MED",
                "tuple": {"GEN": "male", "AGE": None},
                "level": 1,
                "answer": "NSAID",
                "price": 0.7,
                "idempotency_key": "run:0",
                "sequence": 3,
                "hash": "ab" * 32,
                "key_id": KEY.key_id,
                "logged": False,
            }
        ],
        "unreadable": [],
        "problems": [],
    }


def test_for_people_it_prints_what_was_sold_and_that_it_holds(pacas: Any) -> None:
    assert pacas(*VERIFY).lines == [
        "receipt  account  attribute  level  answer  price  entry  signature",
        "      1  ann      MED            1  NSAID     0.7      3  holds",
        f"1 receipt: all as the provider signed them, with the key {KEY.key_id}",
    ]


@pytest.fixture
def receipts(folder: Path) -> Path:
    """Hundreds of them, a file each."""
    (folder / "receipts").mkdir()
    for number in range(300):
        name = f"receipt-{number:08}.json"
        (folder / "receipts" / name).write_text(json.dumps(document(f"answer {number}")))
    (folder / "receipts" / "notes.txt").write_text("no receipt, and not read as one")
    return folder / "receipts"


@pytest.mark.parametrize("named", [("receipts",), ("receipts/*.json",), ("receipts/r*0.json", "receipts/r*[1-9].json")])
def test_hundreds_are_verified_in_one_start(pacas: Any, receipts: Path, named: tuple[str, ...]) -> None:
    told = pacas("verify", *named, "--key", "key.pem")
    assert told.code == 0
    assert told.lines == [f"300 receipts: all as the provider signed them, with the key {KEY.key_id}"]
    assert len(pacas("verify", *named, "--key", "key.pem", "--json").document["receipts"]) == 300


def test_of_hundreds_those_that_do_not_hold_are_named(pacas: Any, receipts: Path) -> None:
    (receipts / "receipt-00000007.json").write_text(json.dumps(document() | {"price": 1}))
    (receipts / "receipt-00000123.json").write_text("{")
    told = pacas("verify", "receipts", "--key", "key.pem")
    assert told.code == 1
    bad = ["receipts/receipt-00000007.json", "receipts/receipt-00000123.json"]
    assert told.lines[-2:] == [
        f"not what the provider signed: {', '.join(bad)}",
        "299 receipts: 298 hold, 1 not",
    ]
    assert [line.split()[0] for line in told.lines[:-3]] == ["receipt", "8"], "and no other is listed"
    document_ = pacas("verify", "receipts", "--key", "key.pem", "--json").document
    assert [one["file"] for one in document_["receipts"] if not one["holds"]] == bad[:1]
    assert [one["file"] for one in document_["unreadable"]] == bad[1:]


@pytest.mark.parametrize("named", ["empty", "receipts/*.json"])
def test_a_folder_or_pattern_without_receipts_is_bad_input(pacas: Any, folder: Path, named: str) -> None:
    (folder / "empty").mkdir()
    assert pacas("verify", named, "--key", "key.pem").complaint.startswith(f"{named}: no receipt there; give")


def test_of_several_it_says_which_does_not_hold(pacas: Any, folder: Path) -> None:
    write(folder, [document(), document() | {"price": 1}, document(key=OTHER)])
    result = pacas(*VERIFY)
    assert result.code == 1
    assert result.lines[2].endswith("does not hold")
    assert result.lines[3].endswith(f"does not hold (of another key, {OTHER.key_id})")
    assert result.lines[-1] == "not what the provider signed: 2, 3"
    told = pacas(*VERIFY, "--json")
    assert told.code == 1
    assert [one["holds"] for one in told.document["receipts"]] == [True, False, False]
    assert told.document["holds"] is False


@pytest.mark.parametrize(
    "shape",
    [
        lambda receipt: receipt,
        lambda receipt: [receipt],
        lambda receipt: {"purchase": {"id": "run:0", "price": 1, "level": 1, "answer": "NSAID", "receipt": receipt}},
        lambda receipt: {"purchases": [{"refused": "unsafe"}, {"price": 0.7, "receipt": receipt}], "spent": 0.7},
        lambda receipt: [{"purchase": {"receipt": receipt}}, {"purchase": {"refused": "refused"}}],
    ],
)
def test_receipts_are_found_where_a_provider_puts_them(pacas: Any, folder: Path, shape: Any) -> None:
    write(folder, shape(document()))
    assert len(pacas(*VERIFY, "--json").document["receipts"]) == 1
    write(folder, shape(document() | {"answer": "*"}))
    assert pacas(*VERIFY, "--json").code == 1


ALTERED = {
    "account": "bob",
    "attribute": "DIAG",
    "tuple": {"GEN": "male", "AGE": "51"},
    "level": 0,
    "answer": "ibuprofen",
    "price": 700_000_001,
    "idempotency_key": "run:1",
    "sequence": 4,
    "hash": "ac" * 32,
    "key_id": OTHER.key_id,
    "signature": document("other")["signature"],
}


def test_every_member_is_tried() -> None:
    assert {*ALTERED, "version"} == set(document())


@pytest.mark.parametrize("member", ALTERED)
def test_a_receipt_that_was_altered_in_one_member_does_not_hold(pacas: Any, folder: Path, member: str) -> None:
    write(folder, document() | {member: ALTERED[member]})
    assert pacas(*VERIFY).code == 1


@pytest.mark.parametrize("damage", ["", "!", "A" * 88, document()["signature"][:-4], document()["signature"][:-1]])
def test_a_damaged_signature_does_not_hold(pacas: Any, folder: Path, damage: str) -> None:
    write(folder, document() | {"signature": damage})
    assert pacas(*VERIFY).code == 1


def test_the_wrong_key_does_not_hold(pacas: Any, folder: Path) -> None:
    (folder / "key.pem").write_text(OTHER.public_key)
    assert pacas(*VERIFY).code == 1


@pytest.mark.parametrize("member", sorted(document()))
def test_a_receipt_that_lacks_a_member_is_bad_input(pacas: Any, folder: Path, member: str) -> None:
    whole = document()
    del whole[member]
    write(folder, whole)
    assert "receipt.json: " in pacas(*VERIFY).complaint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (json.dumps(document())[:-20], "is not JSON, or cut short"),
        ("", "is not JSON, or cut short"),
        ('{"signature": 1, "signature": 2}', "is not JSON, or cut short"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "has no receipt in it"),
        ('{"purchases": [{"refused": "refused"}]}', "has no receipt in it"),
        ('{"purchases": [{"price": 1, "answer": "NSAID"}]}', "number 1 in it is no receipt"),
        ('{"purchases": [{"price": 1, "receipt": null}]}', "number 1 in it is no receipt"),
        ("3", "number 1 in it is no receipt"),
        (json.dumps(document() | {"more": 1}), "'more'"),
        (json.dumps(document() | {"version": 3}), "'version'"),
        (json.dumps(document() | {"price": 0.7}), "'price'"),
        (json.dumps(document() | {"level": "1"}), "'level'"),
    ],
)
def test_what_is_no_receipt_is_bad_input(pacas: Any, folder: Path, content: str, said: str) -> None:
    (folder / "receipt.json").write_text(content)
    assert said in pacas(*VERIFY).complaint


def test_a_key_that_is_none_is_bad_input(pacas: Any, folder: Path) -> None:
    assert "nowhere.pem cannot be read" in pacas("verify", "receipt.json", "--key", "nowhere.pem").complaint
    (folder / "key.pem").write_text("no key")
    assert "key.pem: not a public Ed25519 key" in pacas(*VERIFY).complaint
    (folder / "key.pem").write_bytes(b"\xff")
    assert "key.pem is not a key in PEM" in pacas(*VERIFY).complaint
    SigningKey.load_or_create(folder / "private.pem")
    assert "holds a private key" in pacas("verify", "receipt.json", "--key", "private.pem").complaint
    assert "everybody on the way" in pacas("verify", "receipt.json", "--key", "http://example.org/v1/key").complaint


def test_half_a_client_s_certificate_is_bad_input(pacas: Any) -> None:
    assert "--cert and --cert-key go together" in pacas(*VERIFY, "--cert", "key.pem").complaint


def test_a_receipt_that_is_not_there_is_bad_input(pacas: Any) -> None:
    told = pacas("verify", "nowhere.json", "--key", "key.pem").complaint
    assert "nowhere.json cannot be read" in told and "a folder of receipts, or a pattern" in told
