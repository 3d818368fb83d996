"""What a provider's owner is told before selling: findings of the linter, and the worst figure of the meter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacas.cli.options import printable, progress
from pacas.core.query import MAIN
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.formats.provider.provider_file import ProviderFile
from pacas.provider.leak.guessing import GuessedMore
from pacas.provider.leak.meter import AttributeLeak, LeakMeter
from pacas.provider.lint.dependencies import SHARE
from pacas.provider.lint.finding import ProviderFinding, who
from pacas.provider.lint.lint import lint_provider
from pacas.provider.on_engine.memory_limit import too_large
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode

SAMPLE = 20_000
"""Rows that the meter looks at beside other work."""

LINTED = 50_000
"""Rows that the linter looks at beside other work."""

Looked = tuple[list[ProviderFinding], str | None]
"""What the linter has found, and what free quotes tell."""

COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def findings_of(
    file: ProviderFile, provider: Provider, engine: Engine[Any], share: float = SHARE, most: int | None = None
) -> list[ProviderFinding]:
    """All that the linter finds; hierarchies are called by the files that they are in."""
    files = {attribute: source for attribute, source in file.hierarchies.items() if isinstance(source, str)}
    with progress() as tell:
        tell("looking for what is to be mended")
        return lint_provider(provider, engine, file.scan_relations(engine)[MAIN], share=share, files=files, most=most)


def worst_leak(file: ProviderFile, provider: Provider, engine: Engine[Any]) -> AttributeLeak | None:
    """What free quotes tell of the attribute that they tell most of, by a sample.

    None where they are sealed, or the relation stays on the engine: then only `pacas leak` asks for many.
    """
    terms, source = provider.shop.terms, file.scan_relations(engine)[MAIN]
    if terms.quotes is QuoteMode.SEALED or too_large(engine, source, terms) is not None:
        return None
    with progress() as tell:
        tell("guessing people's values from quotes")
        return max(LeakMeter(provider, engine, source, SAMPLE).attributes(), key=lambda one: one.guessed.leak)


def look_at(file: ProviderFile, provider: Provider, engine: Engine[Any]) -> Looked:
    """What is found beside other work: by the linter, and by the meter, in a line, if that is to be told."""
    worst = worst_leak(file, provider, engine)
    told = leak_warning(file, None if worst is None else leak_as_json(worst))
    return findings_of(file, provider, engine, most=LINTED), told


def leak_warning(file: ProviderFile, leak: Mapping[str, Any] | None) -> str | None:
    """What the owner of a provider with the paper's quotes is told in red: the meter's figure, or who measures it."""
    if file.quotes is QuoteMode.SEALED:
        return None
    if leak is None:
        return f"what free quotes tell is not measured beside other work, on the engine; pacas leak {file.path} does"
    return leak_words(leak)


def leak_words(leak: Mapping[str, Any]) -> str:
    """What quotes tell of an attribute, in one line."""
    low, high = leak["interval"]
    return (
        f"free quotes tell the {printable(leak['attribute'])} of {leak['leak']:.1%} more of the people than public "
        f"columns do (95 %: {low:+.1%} to {high:+.1%}); see pacas leak"
    )


def finding_words(finding: Mapping[str, Any]) -> str:
    """A finding in one line: its rule, what it is about, and how many people it concerns."""
    people = ("about " if finding["estimated"] else "") + counted(finding["people"], *who(finding["about"]))
    return f"{finding['rule']}: {printable(finding['attribute'])}, {people}"


def guessed_as_json(guessed: GuessedMore) -> dict[str, Any]:
    return {
        "leak": round(guessed.leak, 6),
        "interval": [round(end, 6) for end in guessed.interval],
        "public_guess": round(guessed.public_guess, 6),
    }


def leak_as_json(leak: AttributeLeak) -> dict[str, Any]:
    return {
        "attribute": leak.attribute,
        "level": leak.level,
        **guessed_as_json(leak.guessed),
        "ladders": leak.ladders,
        "why": leak.why,
    }
