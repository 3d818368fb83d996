"""What has changed under a ledger, as its owner can find it: the file, the key, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from pacas.errors import LedgerChangedError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.provider.quote_mode import QuoteMode

_KEYS = {
    "match": "[match]",
    "policies": "[[policy]]",
    "support set": "pricing.support",
    "weights": "pricing.total, sensitivity or points",
    "dependencies": "[[dependency]], pricing.prior or members",
    "prices": "pricing.total, sensitivity or spread, or max_matches",
    "schedule": "pricing.schedule",
    "circle": "circle",
    "draw": "this version of PACAS keeps others back of the rows that a [[dependency]] ties",
    "registry": "pricing.members",
    "reserve": "pricing.reserve, or keep or scope of a [[policy]]",
    "sold before": "ledger.sold_before",
    "seed": "pricing.seed",
}
"""The keys of the file that parts of a ledger's fingerprint follow from."""


def named_in(file: ProviderFile, changed: LedgerChangedError) -> LedgerChangedError:
    """The same error, with the file and the key of each part, and what to do."""
    return LedgerChangedError(changed.parts, dict(_places(file)), _remedy(file))


def _places(file: ProviderFile) -> Iterator[tuple[str, str]]:
    name = file.path.name
    yield "relation", f"{file.relation.data}, relation.data in {name}"
    for other, section in file.relations.items():
        yield f"relation {other}", f"{section.data}, relations.{other}.data in {name}"
    for attribute, source in file.hierarchies.items():
        key = f"hierarchies.{attribute} in {name}"
        yield f"hierarchy of {attribute}", f"{source}, {key}" if isinstance(source, str) else key
    for part, key in _KEYS.items():
        given = file.pricing.support.file if part == "support set" else None
        yield part, f"{key} in {name}" if given is None else f"{given}, {key}.file in {name}"


def _remedy(file: ProviderFile) -> str:
    counting = ", and this one in [ledger] sold_before" if file.quotes is QuoteMode.SEALED else ""
    return f"values were sold by it: restore it, or name another ledger in [ledger] url of {file.path.name}{counting}"
