"""Whether receipts are what a provider has signed: a file of them, a folder, whatever a pattern finds, or many of each.

A folder or a pattern is looked through to its end: a file in it that holds no receipt is told beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from pacas.core.words import counted
from pacas.errors import FileError
from pacas.protocol.receipt import SignedReceipt
from pacas.wire.receipt_file import SHAPE, read_receipts

if TYPE_CHECKING:
    from pacas.remote.connection import Certificate

Receipts = str | PathLike[str] | SignedReceipt
"""A file, a folder, a pattern such as `receipts/*.json`, or the receipt that an answer has."""


@dataclass(frozen=True, slots=True)
class CheckedReceipt:
    """A receipt, where it is, and whether it is what the owner of the key has signed."""

    file: str
    signed: SignedReceipt
    holds: bool


@dataclass(frozen=True, slots=True, repr=False)
class CheckedReceipts:
    """Receipts that were verified with one key, and files among them that hold none."""

    key_id: str
    receipts: tuple[CheckedReceipt, ...]
    unreadable: Mapping[str, str]
    """File → what is wrong with it."""

    @property
    def holds(self) -> bool:
        """All of them are as the provider signed them."""
        return not self.unreadable and all(one.holds for one in self.receipts)

    @property
    def failing(self) -> tuple[CheckedReceipt, ...]:
        """Those that are not."""
        return tuple(one for one in self.receipts if not one.holds)

    def __len__(self) -> int:
        return len(self.receipts)

    def __repr__(self) -> str:
        told = "all hold" if self.holds else f"{len(self.failing):,} do not hold, {len(self.unreadable):,} unreadable"
        return f"CheckedReceipts({counted(len(self), 'receipt')}, {told}; key {self.key_id})"


def verify(
    receipts: Receipts | Iterable[Receipts],
    key: str | PathLike[str],
    *,
    ca: Path | None = None,
    client_certificate: Certificate | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> CheckedReceipts:
    """Verify receipts with a provider's public key: a file in PEM, or where its server publishes it (https://…/v1/key).

    `receipts` are files, folders or patterns, or what answers have as their `receipt`.
    """
    given = [receipts] if isinstance(receipts, str | PathLike | SignedReceipt) else list(receipts)
    files = [file for one in given if not isinstance(one, SignedReceipt) for file in _files(fspath(one))]
    signatures = import_module("pacas.wire.signatures")  # and so cryptography, which takes a moment to load
    pem = _public_key(fspath(key), ca, client_certificate)
    found = [CheckedReceipt("", one, signatures.verify(one, pem)) for one in given if isinstance(one, SignedReceipt)]
    unreadable: dict[str, str] = {}
    for number, file in enumerate(files):
        if number % 50 == 0:
            progress(f"{number:,} of {counted(len(files), 'file')}")
        try:
            found += [CheckedReceipt(str(file), one, signatures.verify(one, pem)) for one in _read(file)]
        except FileError as error:
            if len(files) == 1:
                raise
            unreadable[str(file)] = str(error)
    return CheckedReceipts(signatures.key_id(pem), tuple(found), unreadable)


def _files(named: str) -> Iterator[Path]:
    """The files that a path or a pattern names, in order."""
    path = Path(named)
    is_pattern = not path.exists() and any(sign in named for sign in "*?[")
    if not is_pattern and not path.is_dir():
        yield path
        return
    found = sorted(map(Path, glob(named))) if is_pattern else sorted(path.glob("*.json"))
    files = [file for file in found if file.is_file()]
    if not files:
        raise FileError(f"{named}: no receipt there; {SHAPE}")
    yield from files


def _read(file: Path) -> list[SignedReceipt]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}); give a receipt as JSON") from None
    return read_receipts(content, file.name)


def _public_key(key: str, ca: Path | None, certificate: Certificate | None) -> str:
    """The key that a file or a URL names, in PEM. What asks a server is loaded where one is asked."""
    if "://" not in key:
        pem: str = import_module("pacas.wire.signatures").read_key_file(key)
    else:
        pem = import_module("pacas.remote.published_key").published_key(key, ca=ca, client_certificate=certificate)
    return pem
