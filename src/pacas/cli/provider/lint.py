"""`pacas lint`: what a provider's owner should mend before selling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from pacas.cli.data_options import UNSAID, chooses_an_engine
from pacas.cli.opened_provider import opened_unsold, read_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json, printable
from pacas.cli.provider.findings import COLOURS, finding_words, findings_of
from pacas.core.words import counted
from pacas.engine.choosing import EngineChoice
from pacas.provider.lint.dependencies import SHARE
from pacas.provider.lint.finding import SEVERITIES, ProviderFinding


@chooses_an_engine
def command(
    provider: ProviderArgument,
    share: Annotated[
        float,
        typer.Option(min=0.5, max=1.0, metavar="SHARE", help="How many people a column must tell another of."),
    ] = SHARE,
    engine: EngineChoice = UNSAID,
    json: Json = False,
) -> None:
    """Find what to mend before selling: columns that tell protected ones, policies and hierarchies that protect little.

    Each finding says how many people it concerns, and which line mends it. It holds no value of the table. What was
    sold before does not count, and no ledger is opened.

    Exit code 0: no errors (warnings and notes are none); 1: some.

    JSON: findings (rule, severity, attribute, people, says, remedy, estimated, about)

    Example: pacas lint provider.toml
    """
    file = read_provider(provider)
    with opened_unsold(file, engine) as (opened, asked):
        findings = findings_of(file, opened, asked, share)
    if json:
        print_json({"findings": [finding.as_json() for finding in findings]})
    else:
        _print(findings)
    raise typer.Exit(1 if any(finding.severity == "error" for finding in findings) else 0)


def _print(findings: Sequence[ProviderFinding]) -> None:
    for finding in findings:
        head = (f"{finding.severity:<8}", COLOURS[finding.severity])
        out.print(Text.assemble(head, (finding_words(finding.as_json()), "bold")))
        out.print(Padding(printable(finding.says), (0, 0, 0, 8), expand=False))
        for line in finding.remedy.splitlines():
            out.print(Padding(Text(printable(line), style="green"), (0, 0, 0, 10), expand=False))
        out.print()
    out.print(summary(findings))


def summary(findings: Sequence[ProviderFinding]) -> Text:
    """How many of each kind there are."""
    found = Counter(finding.severity for finding in findings)
    if not findings:
        return Text("nothing to mend", style="green")
    words = Text()
    for severity in SEVERITIES:
        if found[severity]:
            words.append(", " if words else "")
            words.append(counted(found[severity], severity), style=COLOURS[severity])
    return words
