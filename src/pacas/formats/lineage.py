"""A cleaning as OpenLineage tells of it: which columns came from which, and how much was repaired. Never a value.

An event is a JSON document by OpenLineage's specification, version 2: one when a run starts, one when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
class Lineage:
    """One run: its name, its tables, and the columns that the provider calls by other names."""

    run: UUID
    job: str
    producer: str
    """A URI that names this release."""
    source: Source
    output: Path
    provider: LineageDataset | None
    """None where nothing is bought."""
    theirs: Mapping[str, str | None] = field(default_factory=dict)

    def start(self, now: datetime) -> Event:
        return self._event("START", now, [self._input()], [LineageDataset.of_path(self.output).described()])

    def fail(self, now: datetime, error: BaseException) -> Event:
        """That a run has failed, and with what kind of error: its words may quote a cell."""
        told = {"message": type(error).__name__, "programmingLanguage": "python"}
        facets = {"errorMessage": self._facet("errorMessage", told)}
        return self._event("FAIL", now, [self._input()], [LineageDataset.of_path(self.output).described()], facets)

    def complete(self, now: datetime, cleaning: Cleaning) -> Event:
        bought = {purchase.attribute for purchase in cleaning.purchases}
        inputs = [self._input()]
        if self.provider is not None and bought:
            sold = self._columns(sorted({self._theirs(attribute) for attribute in bought}))
            inputs.append(self.provider.described({"schema": sold}))
        fields = {
            column: {"inputFields": list(self._came_from(column, cleaning, bought))} for column in cleaning.columns
        }
        output = LineageDataset.of_path(self.output).described(
            {
                "schema": self._columns(cleaning.columns),
                "columnLineage": self._facet("columnLineage", {"fields": fields, "dataset": []}),
            }
        )
        output["outputFacets"] = {"outputStatistics": self._facet("outputStatistics", {"rowCount": cleaning.rows})}
        return self._event("COMPLETE", now, inputs, [output], {"pacas_cleaning": self._counts(cleaning)})

    def _came_from(self, column: str, cleaning: Cleaning, bought: set[str]) -> Iterable[dict[str, Any]]:
        """What a column's values follow from: itself and, where it was repaired, what decided on that."""
        own = LineageDataset.of_source(self.source)
        if column not in cleaning.changes:
            yield own.input_field(column, "DIRECT", "IDENTITY")
            return
        yield own.input_field(column, "DIRECT", "TRANSFORMATION")
        if column in bought and self.provider is not None:
            yield self.provider.input_field(self._theirs(column), "DIRECT", "TRANSFORMATION")
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

    def _theirs(self, column: str) -> str:
        return self.theirs.get(column) or column

    def _input(self) -> dict[str, Any]:
        return LineageDataset.of_source(self.source).described({"schema": self._columns(self.source.columns)})

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
