"""`pacas audit`: do the policies hold, by how much, what was sold to whom, and is the ledger true."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.data_options import EngineOption, MasterOption, MemoryOption
from pacas.cli.opened_provider import ProviderArgument, opened_provider, provider_path
from pacas.cli.options import Json, print_json
from pacas.cli.provider.audit_report import print_audit
from pacas.core.money import in_credits
from pacas.engine.choosing import EngineChoice
from pacas.errors import InputError
from pacas.formats.provider.provider_file import read_provider_file
from pacas.provider.audit import Audit, PolicyAudit, audit
from pacas.provider.ledger.chain import Head, Verification
from pacas.storage.url import ledger_kind, ledger_path, open_ledger

UNTRUE = "nothing else was looked at: it would follow from a ledger that does not hold"
_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


def command(
    provider: ProviderArgument,
    head: Annotated[
        str | None, typer.Option(metavar="ENTRIES:HASH", help="A head noted earlier: the history must still have it.")
    ] = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    json: Json = False,
) -> None:
    """Check the policies, the sales and the ledger, everything derived anew from the ledger's entries.

    Exit code 0: all holds; 1: a policy, a payment or the ledger does not.

    JSON: holds, rows, neighbours, total, policies (x, y, levels, k, allow_linkage, groups, unlinked_rows, margins,
    holds), sales (buyer, attribute, level, purchases, spent), buyers (buyer, purchases, spent, due, surviving), ledger
    (verified, entries, head, problem, first_bad_entry), warnings

    Example: pacas audit provider.toml
    """
    path = provider_path(provider)
    choice = EngineChoice(engine, master, memory)
    noted = None if head is None else _head(head)
    verified = _verified_ledger(path, noted)
    if verified is not None and not verified.holds:
        document = _broken(verified)
    else:
        with opened_provider(path, choice) as opened:
            document = as_json(audit(opened, noted))
    if json:
        print_json(document)
    else:
        print_audit(document)
    raise typer.Exit(0 if document["holds"] else 1)


def as_json(found: Audit) -> dict[str, Any]:
    """The whole audit; money in credits."""
    return {
        "holds": found.holds,
        "rows": found.rows,
        "neighbours": found.neighbours,
        "total": in_credits(found.total),
        "policies": [_policy(policy) for policy in found.policies],
        "sales": [
            {
                "buyer": sold.buyer,
                "attribute": sold.attribute,
                "level": sold.level,
                "purchases": sold.purchases,
                "spent": in_credits(sold.spent),
            }
            for sold in found.sales
        ],
        "buyers": [
            {
                "buyer": name,
                "purchases": buyer.purchases,
                "spent": in_credits(buyer.spent),
                "due": in_credits(buyer.due),
                "surviving": buyer.surviving,
            }
            for name, buyer in found.buyers.items()
        ],
        "ledger": _ledger(found.ledger),
        "warnings": list(found.warnings),
    }


def _policy(found: PolicyAudit) -> dict[str, Any]:
    return {
        "x": list(found.policy.x),
        "y": list(found.policy.y),
        "levels": found.policy.y_levels,
        "k": found.policy.k,
        "allow_linkage": found.policy.allow_linkage,
        "groups": found.groups,
        "unlinked_rows": found.unlinked_rows,
        "margins": [{"margin": margin, "groups": groups} for margin, groups in found.margins.items()],
        "holds": found.holds,
    }


def _ledger(found: Verification) -> dict[str, Any]:
    return {
        "verified": found.holds,
        "entries": found.head.entries,
        "head": found.head.hash,
        "problem": found.problem,
        "first_bad_entry": found.first_bad,
    }


def _broken(found: Verification) -> dict[str, Any]:
    """What is left to say where the ledger does not hold: it decides all the rest."""
    nothing: dict[str, Any] = {"policies": [], "sales": [], "buyers": []}
    return {"holds": False, **nothing, "ledger": _ledger(found), "warnings": [UNTRUE]}


def _verified_ledger(path: Path, noted: Head | None) -> Verification | None:
    """Whether the ledger holds, before a provider is made from it; None if there is none yet, or it is in memory."""
    file = read_provider_file(path)
    kept = ledger_path(file.ledger_url, file.folder)
    if ledger_kind(file.ledger_url) == "memory" or (kept is not None and not kept.exists()):
        return None
    with closing(open_ledger(file.ledger_url, file.folder)) as ledger:
        return ledger.verify(noted)


def _head(text: str) -> Head:
    found = _HEAD.fullmatch(text.strip().lower())
    if found is None:
        raise InputError("--head takes ENTRIES:HASH, as pacas audit prints it")
    return Head(int(found[1]), found[2])
