"""Files with receipts in them: one receipt, a purchase that has one, or many of either, as a provider gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from pacas.errors import FileError
from pacas.protocol.messages import LARGEST
from pacas.protocol.receipt import Receipt, SignedReceipt
from pacas.protocol.tree_head import LoggedEntry, SignedTreeHead, TreeHead

SHAPE = "give a receipt, or a purchase or list of purchases that have them, as a provider answers"

_RECEIPT = {
    **dict.fromkeys(("account", "attribute", "answer", "idempotency_key", "hash"), str),
    **dict.fromkeys(("level", "price", "sequence"), int),
    "tuple": dict,
}
_MEMBERS = {"version": int, **_RECEIPT, "key_id": str, "signature": str}
"""The members of a `ReceiptDocument`, and what JSON has them as."""
_OF_HEAD = {"size": int, "root": str, "time": int, "key_id": str, "signature": str}
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def read_receipts(content: bytes, name: str) -> list[SignedReceipt]:
    """The receipts of a file, in order. Purchases that were refused have none; a file without any is an error."""
    try:
        document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object)
    except RecursionError:
        raise FileError(f"{name} is nested too deeply to be read") from None
    except ValueError:  # not UTF-8, or not JSON, or a key twice
        raise FileError(f"{name} is not JSON, or cut short; {SHAPE}") from None
    found = [_receipt(one, number, name) for number, one in enumerate(_found(document), start=1)]
    if not found:
        raise FileError(f"{name} has no receipt in it; {SHAPE}")
    return found


def _found(document: Any) -> Iterator[Any]:
    match document:
        case list():
            for one in document:
                yield from _found(one)
        case {"signature": _}:
            yield document
        case {"receipt": inner} | {"purchase": inner} | {"purchases": inner}:
            yield from _found(inner)
        case {"refused": _}:
            return
        case _:
            yield None


def _receipt(document: Any, number: int, name: str) -> SignedReceipt:
    if document is None:
        raise FileError(f"{name}: number {number} in it is no receipt; {SHAPE}")
    if not _is_whole(document):
        return _validated(document, number, name)
    receipt = Receipt(**{member: document[member] for member in _RECEIPT}, time=document.get("time"))
    return SignedReceipt(receipt, document["key_id"], document["signature"], _logged(document.get("log")))


def _logged(log: Mapping[str, Any] | None) -> LoggedEntry | None:
    if log is None:
        return None
    head = log["head"]
    signed = SignedTreeHead(TreeHead(head["size"], head["root"], head["time"]), head["key_id"], head["signature"])
    return LoggedEntry(signed, tuple(log["path"]))


def _is_whole(document: Mapping[str, Any]) -> bool:
    """Whether a document is surely a `ReceiptDocument`: to load pydantic takes longer than all else in verifying it."""
    members = {member: type(value) for member, value in document.items()}
    if members.pop("log", None) is dict and not _is_whole_log(document["log"]):
        return False
    if not isinstance(document.get("log"), dict | None):
        return False
    if members != (_MEMBERS if "time" not in document else _MEMBERS | {"time": int}):
        return False
    if document["version"] != (2 if "time" in document else 1) or document.get("time", 0) < 0:
        return False
    if min(document["level"], document["price"], document["sequence"] - 1) < 0:
        return False
    known = document["tuple"].values()
    if not all(value is None or isinstance(value, str) for value in known):
        return False
    texts = (*document["tuple"], *known, *(document[member] for member, kind in _MEMBERS.items() if kind is str))
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def _is_whole_log(log: Mapping[str, Any]) -> bool:
    head, path = log.get("head"), log.get("path")
    if len(log) != 2 or not isinstance(head, dict) or not isinstance(path, list):
        return False
    if {member: type(value) for member, value in head.items()} != _OF_HEAD:
        return False
    if not all(0 <= head[member] <= LARGEST for member in ("size", "time")):
        return False
    if not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in (head["root"], *path)):
        return False
    return bool(head["key_id"].isascii() and head["signature"].isascii())


def _validated(document: Any, number: int, name: str) -> SignedReceipt:
    """The receipt of a document that may not be one; pydantic says what is wrong with it."""
    from pydantic import ValidationError

    try:
        signed: SignedReceipt = (
            import_module("pacas.wire.shapes.receipts").ReceiptDocument.model_validate(document).signed()
        )
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        member = str(problem["loc"][0])
        raise FileError(f"{name}: receipt {number} is not whole: {member!r}: {problem['msg'].lower()}") from None
    return signed


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")  # which of the two was signed?
    return found
