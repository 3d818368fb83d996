"""The dependencies that a provider tells everybody of: they must hold exactly in its relation, or none is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacas.core.dependency import FunctionalDependency
from pacas.core.words import counted
from pacas.engine.contract import Engine, Source
from pacas.errors import InputError


def check_published(engine: Engine[Any], source: Source, published: Sequence[FunctionalDependency]) -> None:
    """Raise unless every dependency that is published holds in all rows, values compared as they are written."""
    if not published:
        return
    for fd in published:
        fd.check(source.columns, f"{source.name} (publish_dependencies)")
    named = dict.fromkeys(attribute for fd in published for attribute in fd.attributes)
    table = engine.open(source, list(named))
    for fd in published:
        if groups := len(engine.mixed_groups(table, [fd.lhs], fd.rhs, {})):
            raise InputError(
                f"publish_dependencies: {fd} does not hold in {source.name}: "
                f"{counted(groups, 'group shows', 'groups show')} several values; leave it out, or mend the rows"
            )
