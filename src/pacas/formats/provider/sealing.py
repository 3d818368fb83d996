"""Sealed quotes in `provider.toml`: the dependencies that are declared, their dictionaries, and the prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.core.sealed.coverage import NeighbourSpread
from pacas.engine.contract import Engine, Source
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.formats.provider.sections import DependencySection, NoisyPriorSection
from pacas.formats.relations.relations import locate, read_relation
from pacas.formats.toml_sections import named
from pacas.provider.quote_mode import QuoteMode
from pacas.provider.quoter.declared import DeclaredDependency, EarlierSales, Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.sealed.noisy_prior import checked_epsilon

PRIOR = ("attribute", "value", "count")
"""The columns of a file that says how often values are believed to occur."""
MOST = 10**12
"""The largest count in it."""


def sealing_of(file: ProviderFile, engine: Engine[Any], sold_before: Sequence[EarlierSales]) -> Sealing | None:
    """How quotes are sealed; None where they are the paper's."""
    if file.quotes is QuoteMode.PAPER:
        return None
    pricing = file.pricing
    _check_domains(file)
    declared = [one for n, section in enumerate(file.dependency, start=1) for one in _declared(file, n, section)]
    spread, reserve = NeighbourSpread(pricing.spread or "even"), Reserve(pricing.reserve or "fixed")
    registry = _registry(file, engine)
    return Sealing(declared, _prior(file), _epsilon(file), spread, reserve, registry, _share(file), sold_before)


def _check_domains(file: ProviderFile) -> None:
    """What is sold or protected has its domain from elsewhere than the relation, or it may be known."""
    if not file.service.publish_built and (built := file.built_among(file.protected())):
        raise ConfigError(
            f"hierarchies.{built[0]}: it is made from the relation, and so tells which values there are; write it to a "
            'file (pacas hierarchy build), set publish_built = true in [service], or say quotes = "paper" in [pricing]'
        )


def _declared(file: ProviderFile, number: int, section: DependencySection) -> list[DeclaredDependency]:
    """One per attribute on the right side."""
    with named(f"dependency {number}"):
        fds = FunctionalDependency.parse(section.fd)
        if section.dictionary is None:
            return [DeclaredDependency(fd) for fd in fds]
        table = read_relation(file.folder / section.dictionary)
        return [DeclaredDependency(fd, _lines(table, fd, section.dictionary)) for fd in fds]


def _lines(table: Relation, fd: FunctionalDependency, name: str) -> tuple[Mapping[str, str], ...]:
    fd.check(table.columns, name)
    columns = {a: table.table[a].to_pylist() for a in fd.attributes}
    lines = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if not lines or any(value is None for line in lines for value in line.values()):
        raise InputError(f"{name} needs a value in every cell, and a line at least")
    return tuple(lines)


def _registry(file: ProviderFile, engine: Engine[Any]) -> Source | None:
    """The public list of people, where who of them is in the relation is private."""
    members = file.pricing.members
    if members == "public":
        return None
    with named("pricing.members.registry"):
        registry = locate(members.registry, file.folder, members.key, engine)
    file.check_header(registry, "pricing.members.registry")
    return registry


def _share(file: ProviderFile) -> Fraction:
    """What share of a registry is believed to be in the relation."""
    members = file.pricing.members
    share = Fraction(1, 2) if members == "public" else Fraction(str(members.share))
    if not 0 < share < 1:
        raise ConfigError(f"pricing.members.share: give a number between 0 and 1, such as 0.5, not {float(share)}")
    return share


def _epsilon(file: ProviderFile) -> Fraction | None:
    """How much a prior may tell that follows from the relation; None where it follows from elsewhere."""
    if not isinstance(file.pricing.prior, NoisyPriorSection):
        return None
    with named("pricing.prior"):
        return checked_epsilon(file.pricing.prior.dp_epsilon)


def _prior(file: ProviderFile) -> dict[str, dict[str, int]]:
    prior = file.pricing.prior
    if not isinstance(prior, str) or prior == "uniform":
        return {}
    with named("pricing.prior"):
        table = read_relation(file.folder / prior)
        if missing := [column for column in PRIOR if column not in table.columns]:
            raise InputError(f"it has no column {missing[0]!r}; give {', '.join(PRIOR)}")
        counts: dict[str, dict[str, int]] = {}
        for attribute, value, count in zip(*(table.table[column].to_pylist() for column in PRIOR), strict=True):
            if not (count or "").isdecimal() or int(count) > MOST:
                raise InputError(f"a count must be a whole number from 0 to {MOST:,}")
            if value in counts.get(attribute, ()):
                raise InputError(f"a value of {attribute!r} has two lines; give it one")
            counts.setdefault(attribute, {})[value] = int(count)
        return counts
