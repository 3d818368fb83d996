"""A provider's log as its clients and witnesses check it: what was once in it must be in it for ever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from pacas.errors import RemoteError
from pacas.protocol.receipt import Receipt
from pacas.protocol.tree_head import SignedTreeHead, TreeHead
from pacas.remote.address import Address
from pacas.remote.connection import TIMEOUT, Certificate, Connection, no_provider
from pacas.remote.known_keys import KnownKeys, asked
from pacas.wire.shapes.base import JSON
from pacas.wire.shapes.receipts import MOST_PROOFS, ProofsAnswer, ProofsBody, TreeHeadDocument
from pacas.wire.signatures import verify_head

LOG_PATH = "/v1/log"
One = TypeVar("One")


class ProviderLog:
    """The log at a provider's URL, whose heads the key (PEM) signs, or one that has followed it. Use it in a `with`."""

    def __init__(
        self,
        url: str,
        token: str | None,
        key: str,
        *,
        ca: Path | None = None,
        client_certificate: Certificate | None = None,
        insecure: bool = False,
    ) -> None:
        address = Address.parse(url, insecure=insecure)
        self.url = address.url
        self._connection = Connection(
            address, token, timeout=TIMEOUT, patience=TIMEOUT, ca=ca, client_certificate=client_certificate
        )
        self._keys = KnownKeys(key, asked(self._connection), self.url)

    def __enter__(self) -> ProviderLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def head(self) -> SignedTreeHead:
        """The log as the provider signs it now."""
        try:
            content = self._connection.ask("GET", LOG_PATH).content
            signed = TreeHeadDocument.model_validate_json(content).signed()
        except ValidationError:
            raise no_provider(self.url) from None
        if not verify_head(signed, self._keys.of(signed.key_id)):
            raise RemoteError(f"{self.url}: the head of the log is not signed with the key that is known")
        return signed

    def problems(self, now: TreeHead, seen: Iterable[TreeHead], receipts: Sequence[Receipt] = ()) -> Iterator[str]:
        """What is wrong with the log as it is now, by heads that were seen before and by receipts of entries in it."""
        known = {(head.size, head.root): head for head in seen}
        roots: dict[int, str] = {now.size: now.root}
        for size, root in known:
            if roots.setdefault(size, root) != root:
                yield forked(size)
        gone = [size for size in roots if size > now.size]
        gone += [one.sequence for one in receipts if one.sequence >= now.size]
        if gone:
            yield f"the log has {now.size:,} entries, and {max(gone):,} were seen: it has forgotten some"
        before = [head for (size, _), head in sorted(known.items()) if 0 < size < now.size]
        for some in _parts(before):
            paths = self._proofs(now.size, heads=[head.size for head in some]).consistency
            for head, path in zip(some, paths, strict=False):
                if not now.has_grown_out_of(head, path):
                    yield f"the log has not grown out of the head of {head.size:,} entries that was seen: it is another"
        for several in _parts([one for one in receipts if one.sequence < now.size]):
            paths = self._proofs(now.size, entries=[one.sequence for one in several]).inclusion
            for receipt, path in zip(several, paths, strict=False):
                if not now.has(receipt.sequence, receipt.hash, path):
                    yield f"entry {receipt.sequence:,} of a receipt is not in the log"

    def _proofs(self, size: int, heads: Sequence[int] = (), entries: Sequence[int] = ()) -> ProofsAnswer:
        body = ProofsBody(size=size, heads=list(heads), entries=list(entries)).model_dump_json().encode()
        content = self._connection.ask("POST", f"{LOG_PATH}/proofs", body, {"Content-Type": JSON}).content
        try:
            told = ProofsAnswer.model_validate_json(content)
        except ValidationError:
            raise no_provider(self.url) from None
        if (len(told.consistency), len(told.inclusion)) != (len(heads), len(entries)):
            raise no_provider(self.url)
        return told


def _parts(many: Sequence[One]) -> Iterator[Sequence[One]]:
    """What goes in one call, in turn."""
    for start in range(0, len(many), MOST_PROOFS):
        yield many[start : start + MOST_PROOFS]


def forked(size: int) -> str:
    return f"there are two heads of {size:,} entries: the provider has shown different logs"
