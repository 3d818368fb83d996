"""`quotes = "sealed"` in `provider.toml`: the dependencies that are declared, their dictionaries, and the prior."""

from __future__ import annotations

from collections.abc import Mapping

from pacas.core.coverage import NeighbourSpread
from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.errors import ConfigError, InputError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.formats.provider.sections import DependencySection
from pacas.formats.relations.relations import read_relation
from pacas.formats.toml_sections import named
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.quoter.public_view import Reserve

PRIOR = ("attribute", "value", "count")
"""The columns of a file that says how often values are believed to occur."""


def sealing_of(file: ProviderFile) -> Sealing | None:
    """How quotes are sealed; None where they are the paper's."""
    pricing = file.pricing
    if pricing.quotes != "sealed":
        for key in ("reserve", "spread", "prior"):
            if getattr(pricing, key) is not None:
                raise ConfigError(f'pricing.{key}: it is for sealed quotes; say quotes = "sealed", or leave it out')
        if file.dependency:
            raise ConfigError(
                'dependency: it is for sealed quotes; say quotes = "sealed" in [pricing], or leave it out'
            )
        return None
    _check(file)
    declared = [one for n, section in enumerate(file.dependency, start=1) for one in _declared(file, n, section)]
    spread, reserve = NeighbourSpread(pricing.spread or "even"), Reserve(pricing.reserve or "fixed")
    return Sealing(declared, _prior(file), spread, reserve)


def _check(file: ProviderFile) -> None:
    """What sealed quotes cannot go with."""
    if file.pricing.points:
        raise ConfigError('pricing.points: the paper\'s prices meet points, sealed ones do not; say quotes = "paper"')
    if file.pricing.support.model_fields_set:
        raise ConfigError('pricing.support: sealed quotes need no support set; leave it out, or say quotes = "paper"')
    if file.seed() is not None:
        raise ConfigError("pricing.seed: sealed quotes have no secret to be seeded; leave it out")
    if file.history == "per_buyer":
        raise ConfigError("history: sealed quotes judge what all buyers have together; leave it out")
    if file.built_hierarchies and not file.service.publish_built:
        raise ConfigError(
            f"hierarchies.{file.built_hierarchies[0]}: it is made from the relation, and so tells which values there "
            "are; write it to a file (pacas hierarchy build), or set publish_built = true in [service]"
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


def _prior(file: ProviderFile) -> dict[str, dict[str, int]]:
    if file.pricing.prior in (None, "uniform"):
        return {}
    with named("pricing.prior"):
        table = read_relation(file.folder / str(file.pricing.prior))
        if missing := [column for column in PRIOR if column not in table.columns]:
            raise InputError(f"it has no column {missing[0]!r}; give {', '.join(PRIOR)}")
        prior: dict[str, dict[str, int]] = {}
        for attribute, value, count in zip(*(table.table[column].to_pylist() for column in PRIOR), strict=True):
            if not (count or "").isdecimal():
                raise InputError("a count must be a whole number, 0 or more")
            prior.setdefault(attribute, {})[value] = int(count)
        return prior
