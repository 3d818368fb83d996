"""Whether receipts are what a provider has signed: a file of them, a folder, whatever a pattern finds, or many of each.

A folder or a pattern is looked through to its end: a file in it that holds no receipt is told beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from glob import glob
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pacas.core.words import counted
from pacas.errors import FileError, InputError
from pacas.protocol.receipt import SignedReceipt
from pacas.protocol.tree_head import SignedTreeHead, TreeHead
from pacas.wire.receipt_file import SHAPE, read_receipts

if TYPE_CHECKING:
    from pacas.remote.connection import Certificate

HEADS = "log-heads.jsonl"
"""The file of heads that were seen, beside the receipts."""
Receipts = str | PathLike[str] | SignedReceipt
"""A file, a folder, a pattern such as `receipts/*.json`, or the receipt that an answer has."""


@dataclass(frozen=True, slots=True)
class CheckedReceipt:
    """A receipt, where it is, and whether it is what the owner of the key has signed, and in the log as it says."""

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
    problems: tuple[str, ...] = ()
    """What is wrong with the provider's log, by all the heads that were seen of it."""
    log: TreeHead | None = None
    """The log as it is now, where it was asked for."""

    @property
    def holds(self) -> bool:
        """All of them are as the provider signed them, and its log has forgotten nothing."""
        return not self.unreadable and not self.problems and all(one.holds for one in self.receipts)

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
    history: str | PathLike[str] | None = None,
    log: str | None = None,
    token: str | None = None,
    heads: str | PathLike[str] | None = None,
    witnessed: str | PathLike[str] | None = None,
    witness_key: str | PathLike[str] | None = None,
    ca: Path | None = None,
    client_certificate: Certificate | None = None,
    insecure: bool = False,
    progress: Callable[[str], None] = lambda what: None,
) -> CheckedReceipts:
    """Verify receipts with a provider's public key: a file in PEM, or where its server publishes it (https://…/v1/key).

    `receipts` are files, folders or patterns, or what answers have as their `receipt`. A key that has followed the
    provider's, or was before it, counts as well, if that is proved by the `history` that the provider publishes: where
    it does, or a file of it; by default at the `log`. With a `log`, the provider's URL and an account's `token`, its
    log must hold every receipt, and have grown out of every head that was seen of it: in the receipts, in the file of
    `heads` (by default beside them), to which the present one is added, and in the file `witnessed` of a witness, whose
    public key is `witness_key`.
    """
    given = [receipts] if isinstance(receipts, str | PathLike | SignedReceipt) else list(receipts)
    files = [file for one in given if not isinstance(one, SignedReceipt) for file in _files(fspath(one))]
    signatures = import_module("pacas.wire.signatures")  # and so cryptography, which takes a moment to load
    keys = _keys(fspath(key), fspath(history) if history is not None else log, ca, client_certificate, insecure)
    check = _Check(signatures, keys)
    found = [check.checked("", one) for one in given if isinstance(one, SignedReceipt)]
    of_files, unreadable = check.files(files, progress)
    found += of_files
    name = signatures.key_id(keys.known)
    if log is None:
        return CheckedReceipts(name, tuple(found), unreadable, tuple(dict.fromkeys(check.forks())))
    progress("asking for the log")
    file_of_heads = Path(heads) if heads is not None else _beside(files)
    asked = import_module("pacas.remote.provider_log").ProviderLog(
        log, token, keys.known, ca=ca, client_certificate=client_certificate, insecure=insecure
    )
    with asked:
        seen = import_module("pacas.remote.heads_file").HeadsFile(file_of_heads)
        known = [*check.heads, *(one.head for one in _signed(seen.read(), signatures, keys, seen.path))]
        if witnessed is not None:
            known += _witnessed(Path(witnessed), witness_key, signatures)
        signed = asked.head()
        unlogged = [one.signed.receipt for one in found if one.holds and one.signed.logged is None]
        problems = tuple(dict.fromkeys(asked.problems(signed.head, known, unlogged)))
        if not problems:
            seen.add(signed)
    return CheckedReceipts(name, tuple(found), unreadable, problems, signed.head)


class _Check:
    """Receipts checked with a provider's keys, and the heads that those that hold have brought."""

    def __init__(self, signatures: Any, keys: Any) -> None:
        self._signatures, self._keys = signatures, keys
        self._signed: dict[SignedTreeHead, bool] = {}
        """Whether a head is signed: sales that shared a commit may share one."""

    def checked(self, file: str, one: SignedReceipt) -> CheckedReceipt:
        holds = self._signatures.verify(one, self._keys.of(one.key_id))
        if holds and one.logged is not None:
            head = one.logged.signed_head
            if head not in self._signed:
                self._signed[head] = self._signatures.verify_head(head, self._keys.of(head.key_id))
            holds = self._signed[head] and one.is_in_log
        return CheckedReceipt(file, one, holds)

    def files(self, files: list[Path], progress: Callable[[str], None]) -> tuple[list[CheckedReceipt], dict[str, str]]:
        """The receipts of files; and of files that hold none, what is wrong with each, unless it is the only one."""
        found: list[CheckedReceipt] = []
        unreadable: dict[str, str] = {}
        for number, file in enumerate(files):
            if number % 50 == 0:
                progress(f"{number:,} of {counted(len(files), 'file')}")
            try:
                found += [self.checked(str(file), one) for one in _read(file)]
            except FileError as error:
                if len(files) == 1:
                    raise
                unreadable[str(file)] = str(error)
        return found, unreadable

    @property
    def heads(self) -> list[TreeHead]:
        return [signed.head for signed, holds in self._signed.items() if holds]

    def forks(self) -> Iterator[str]:
        """Heads of one size that are not one."""
        roots: dict[int, str] = {}
        for head in self.heads:
            if roots.setdefault(head.size, head.root) != head.root:
                yield import_module("pacas.remote.provider_log").forked(head.size)


def _signed(heads: list[SignedTreeHead], signatures: Any, keys: Any, path: Path, *, is_witness: bool = False) -> Any:
    """Heads of a file, if all of them are signed with the keys."""
    if not all(signatures.verify_head(one, keys.of(one.key_id), is_witness=is_witness) for one in heads):
        raise FileError(f"{path} has a head that is not signed with the key that is known")
    return heads


def _witnessed(path: Path, key: str | PathLike[str] | None, signatures: Any) -> list[TreeHead]:
    if key is None:
        raise InputError("heads of a witness are believed by its public key: give witness_key (--witness-key)")
    found = import_module("pacas.remote.heads_file").HeadsFile(path).read()
    keys = import_module("pacas.remote.known_keys").KnownKeys(signatures.read_key_file(fspath(key)), None, str(path))
    return [one.head for one in _signed(found, signatures, keys, path, is_witness=True)]


def _beside(files: list[Path]) -> Path:
    """Where heads are kept, unless somewhere is named: in the folder of the receipts."""
    if not files:
        raise InputError("name the file for the heads that were seen of the log: heads (--heads)")
    return files[0].parent / HEADS


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
        raise FileError(
            f"{file} cannot be read ({error.strerror}); give a receipt, a folder of receipts, or a pattern"
        ) from None
    return read_receipts(content, file.name)


def _keys(key: str, history: str | None, ca: Path | None, certificate: Certificate | None, insecure: bool) -> Any:
    """The keys that count: the one that a file or a URL names, and those that a history joins to it.

    What asks a server is loaded where one is asked.
    """
    known = import_module("pacas.remote.known_keys")
    ask = partial(known.published_at, ca=ca, client_certificate=certificate)
    if "://" in key:
        return known.KnownKeys(None, partial(ask, key), key)
    pem = import_module("pacas.wire.signatures").read_key_file(key)
    asked = None if history is None else cache(partial(ask, history, insecure=insecure))
    return known.KnownKeys(pem, asked, history or key)
