"""A cleaning as OpenLineage tells of it: which columns came from which, and how much was repaired. Never a value.

An event is a JSON document by OpenLineage's specification, version 2: one when a run starts, one when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pacas.client.outcome.cleaning import Cleaning
from pacas.core.dependency import FunctionalDependency
from pacas.engine.contract import RelationFile, RelationFolder, Source

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = "https://openlineage.io/spec/facets/"
_SCHEMAS = {
    "schema": f"{_FACETS}1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet",
    "columnLineage": f"{_FACETS}1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
    "outputStatistics": f"{_FACETS}1-0-2/OutputStatisticsOutputDatasetFacet.json"
    "#/$defs/OutputStatisticsOutputDatasetFacet",
    "errorMessage": f"{_FACETS}1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet",
}

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LineageDataset:
    """Where a table is, as OpenLineage names it."""

    namespace: str
    name: str

    @classmethod
    def of_path(cls, path: Path) -> LineageDataset:
        return cls("file", str(path.absolute()))

    @classmethod
    def of_source(cls, source: Source) -> LineageDataset:
        if isinstance(source, RelationFile | RelationFolder):
            return cls.of_path(source.path)
        return cls("pacas", source.name)

    def described(self, facets: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {"namespace": self.namespace, "name": self.name, "facets": dict(facets or {})}

    def input_field(self, column: str, kind: str, subtype: str) -> dict[str, Any]:
        how = {"type": kind, "subtype": subtype}
        return {"namespace": self.namespace, "name": self.name, "field": column, "transformations": [how]}


@dataclass(frozen=True, slots=True)
class LineageProvider:
    """A provider that was asked, and the columns that it calls by other names."""

    dataset: LineageDataset
    theirs: Mapping[str, str | None] = field(default_factory=dict)

    def column(self, own: str) -> str:
        return self.theirs.get(own) or own


@dataclass(frozen=True, slots=True)
class Lineage:
    """One run: its name, its tables, and whom it asks."""

    run: UUID
    job: str
    producer: str
    """A URI that names this release."""
    source: Source
    output: Path
    providers: Mapping[str | None, LineageProvider]
    """By name; one alone has none."""

    def start(self, now: datetime) -> Event:
        return self._event("START", now, self._inputs(), [LineageDataset.of_path(self.output).described()])

    def fail(self, now: datetime, error: BaseException) -> Event:
        """That a run has failed, and with what kind of error: its words may quote a cell."""
        told = {"message": type(error).__name__, "programmingLanguage": "python"}
        facets = {"errorMessage": self._facet("errorMessage", told)}
        return self._event("FAIL", now, self._inputs(), [LineageDataset.of_path(self.output).described()], facets)

    def complete(self, now: datetime, cleaning: Cleaning) -> Event:
        sellers: dict[str, set[str | None]] = {}
        for purchase in cleaning.purchases:
            sellers.setdefault(purchase.attribute, set()).add(purchase.provider)
        fields = {
            column: {"inputFields": list(self._came_from(column, cleaning, sellers.get(column, set())))}
            for column in cleaning.columns
        }
        output = LineageDataset.of_path(self.output).described(
            {
                "schema": self._columns(cleaning.columns),
                "columnLineage": self._facet("columnLineage", {"fields": fields, "dataset": []}),
            }
        )
        output["outputFacets"] = {"outputStatistics": self._facet("outputStatistics", {"rowCount": cleaning.rows})}
        return self._event("COMPLETE", now, self._inputs(sellers), [output], {"pacas_cleaning": self._counts(cleaning)})

    def _came_from(self, column: str, cleaning: Cleaning, sellers: Set[str | None]) -> Iterable[dict[str, Any]]:
        """What a column's values follow from: itself and, where it was repaired, what decided on that."""
        own = LineageDataset.of_source(self.source)
        if column not in cleaning.changes:
            yield own.input_field(column, "DIRECT", "IDENTITY")
            return
        yield own.input_field(column, "DIRECT", "TRANSFORMATION")
        for name, provider in self.providers.items():
            if name in sellers:
                yield provider.dataset.input_field(provider.column(column), "DIRECT", "TRANSFORMATION")
        for decisive in _left_sides(cleaning.fds, column):
            yield own.input_field(decisive, "INDIRECT", "CONDITIONAL")

    def _counts(self, cleaning: Cleaning) -> dict[str, Any]:
        return {
            "_producer": self.producer,
            "_schemaURL": f"{self.producer}#CleaningRunFacet",
            "repairedCells": {column: len(changes) for column, changes in cleaning.changes.items()},
            "purchases": len(cleaning.purchases),
            "spentNanocredits": cleaning.spent_nanocredits,
            "violationsBefore": cleaning.violations_before,
            "violationsAfter": cleaning.violations_after,
            "unrepairedClasses": len(cleaning.unrepaired),
        }

    def _inputs(self, sellers: Mapping[str, Set[str | None]] | None = None) -> list[dict[str, Any]]:
        """The table and everybody who is asked, with what was bought there."""
        own = LineageDataset.of_source(self.source).described({"schema": self._columns(self.source.columns)})
        found = [own]
        for name, provider in self.providers.items():
            sold = sorted({provider.column(a) for a, sold_by in (sellers or {}).items() if name in sold_by})
            found.append(provider.dataset.described({"schema": self._columns(sold)} if sold else {}))
        return found

    def _columns(self, columns: Sequence[str]) -> dict[str, Any]:
        return self._facet("schema", {"fields": [{"name": column} for column in columns]})

    def _facet(self, name: str, members: Mapping[str, Any]) -> dict[str, Any]:
        return {"_producer": self.producer, "_schemaURL": _SCHEMAS[name], **members}

    def _event(
        self,
        kind: str,
        now: datetime,
        inputs: list[dict[str, Any]],
        outputs: list[dict[str, Any]],
        facets: Mapping[str, Any] | None = None,
    ) -> Event:
        return {
            "eventType": kind,
            "eventTime": now.isoformat(),
            "run": {"runId": str(self.run), "facets": dict(facets or {})},
            "job": {"namespace": "pacas", "name": self.job, "facets": {}},
            "inputs": inputs,
            "outputs": outputs,
            "producer": self.producer,
            "schemaURL": SCHEMA,
        }


def _left_sides(fds: Iterable[FunctionalDependency], column: str) -> list[str]:
    return list(dict.fromkeys(a for fd in fds if fd.rhs == column for a in fd.lhs if a != column))
