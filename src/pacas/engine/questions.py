"""Questions about one relation, put to an engine: the front door's verbs for data that anyone may own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pacas.core.anonymity import Anonymity, Policy, check_anonymity
from pacas.core.builders import Contingency, Needs, build, builder, other_attributes
from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import GroupHistogram
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import ArrowTabular, Relation
from pacas.engine.choosing import spark_engine
from pacas.engine.contract import Engine, Hierarchies, KeyedFrame, RelationFile, RelationFolder, Source, T
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.hierarchy_files import GivenHierarchies, GivenHierarchy, as_hierarchies
from pacas.errors import InputError, SchemaError

Data = RelationFile | RelationFolder | KeyedFrame | Relation | ArrowTabular | Mapping[str, Sequence[Any]]
"""A file (`pacas.scan_relation`) or folder, a frame of Spark's with its key (`pacas.KeyedFrame`), or a table in memory:
pandas, Polars, Arrow, DuckDB, a mapping of columns."""


def open_data(engine: Engine[T], data: Data, columns: Iterable[str], hierarchies: Hierarchies | None = None) -> T:
    """Open the columns that a question needs; a hierarchy for a column that is not there is a mistake."""
    source = as_source(data)
    SchemaError.check_there(hierarchies or {}, source.columns, source.name)
    return engine.open(source, list(dict.fromkeys(columns)))


def embedded_engine() -> Engine[Any]:
    """The engine that is used where none is given, and no frame of Spark's either."""
    return DuckEngine()


def engine_for(data: Data, engine: Engine[Any] | None, *others: Data) -> Engine[Any]:
    """The engine that is given; else Spark, on the session of the first frame of Spark's, or the embedded one."""
    if engine is not None:
        return engine
    frame = next((one for one in (data, *others) if isinstance(one, KeyedFrame)), None)
    return embedded_engine() if frame is None else spark_engine(frame.frame.sparkSession)


def as_source(data: Data) -> Source:
    """What an engine opens. A frame of Spark's needs a key, and would otherwise be fetched as a whole."""
    if isinstance(data, RelationFile | RelationFolder | KeyedFrame):
        return data
    if type(data).__module__.startswith("pyspark."):
        raise InputError("the rows of a Spark frame have no order; give pacas.KeyedFrame(frame, key)")
    return Relation.of(data)


def anonymity(
    data: Data, policy: Policy, hierarchies: GivenHierarchies | None = None, *, engine: Engine[Any] | None = None
) -> Anonymity:
    """Whether a relation keeps a policy, and the largest k that it keeps."""
    return check_anonymity(group_histogram(data, policy, as_hierarchies(hierarchies), engine=engine), policy)


def group_histogram(
    data: Data, policy: Policy, hierarchies: Hierarchies | None = None, *, engine: Engine[Any] | None = None
) -> GroupHistogram:
    engine = engine_for(data, engine)
    table = open_data(engine, data, [*policy.x, *policy.y], hierarchies)
    return engine.group_histogram(table, policy.x, policy.y_levels, hierarchies or {})


def semantic_distance(
    data: Data, attribute: str, hierarchy: GivenHierarchy | None = None, *, engine: Engine[Any] | None = None
) -> SemanticDistance:
    """E and δ for an attribute, as it is distributed in a relation."""
    engine = engine_for(data, engine)
    hierarchies = as_hierarchies(None if hierarchy is None else {attribute: hierarchy})
    table = open_data(engine, data, [attribute], hierarchies)
    column = engine.histogram(table, [attribute], hierarchies)
    tree = hierarchies.get(attribute) or Hierarchy.flat(())
    return SemanticDistance.of(tree, column.column(attribute), column.counts)


def relation_distance(
    relation: Data,
    truth: Data,
    hierarchies: GivenHierarchies | None = None,
    *,
    attributes: Iterable[str] | None = None,
    engine: Engine[Any] | None = None,
) -> dict[str, float]:
    """δ between two relations, row by row: per attribute the sum over its cells, measured on the truth's columns.

    The distance of the relations is the sum over the attributes; by default those that both have.
    """
    engine = engine_for(relation, engine, truth)
    source, true_source = as_source(relation), as_source(truth)
    compared = list(attributes or [c for c in source.columns if c in true_source.columns])
    table, true_table = engine.open(source, compared), engine.open(true_source, compared)
    if len(table) != len(true_table):
        raise InputError(f"{source.name} has {len(table):,} rows and {true_source.name} has {len(true_table):,}")
    trees = as_hierarchies(hierarchies)
    return {a: _column_distance(engine, table, true_table, a, trees.get(a)) for a in compared}


def _column_distance(engine: Engine[T], table: T, truth: T, attribute: str, hierarchy: Hierarchy | None) -> float:
    tree = hierarchy or Hierarchy.flat(())
    column = engine.histogram(truth, [attribute], {attribute: tree})
    delta = SemanticDistance.of(tree, column.column(attribute), column.counts)
    v, w = (engine.rows(t, None, [attribute]).column(0).to_pylist() for t in (table, truth))
    pairs = Counter(zip(v, w, strict=True))
    distances = delta.between([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return float(distances @ np.fromiter(pairs.values(), dtype=np.int64))


def answer(
    query: GeneralizedQuery,
    relations: Mapping[str, Data],
    hierarchies: GivenHierarchies | None = None,
    *,
    engine: Engine[Any] | None = None,
) -> list[list[str | None]]:
    """The answers of a generalized query over relations by name (the main one is `relation`), each once, sorted."""
    engine = engine_for({}, engine, *relations.values())
    resolved, tables = open_for(engine, query, {name: as_source(data) for name, data in relations.items()})
    answers = engine.answer(resolved, tables, as_hierarchies(hierarchies))
    return [list(row) for row in zip(*(column.to_pylist() for column in answers.columns), strict=True)]


def open_for(
    engine: Engine[T], query: GeneralizedQuery, sources: Mapping[str, Source]
) -> tuple[GeneralizedQuery, dict[str, T]]:
    """A query with its columns' relations filled in, and these relations, opened with the columns that it needs."""
    resolved = query.resolve({name: source.columns for name, source in sources.items()})
    named = {source.alias: source.relation for source in query.relations}
    needed: dict[str, list[str]] = {relation: [] for relation in named.values()}
    for column in resolved.columns():
        needed[named[str(column.relation)]].append(column.attribute)
    return resolved, {name: engine.open(sources[name], columns or None) for name, columns in needed.items()}


def build_hierarchy(
    data: Data, attribute: str, method: str, /, *, engine: Engine[Any] | None = None, **options: Any
) -> Hierarchy:
    """A hierarchy made from a relation's own column; `method` and its options are those of `pacas.core.builders`."""
    return hierarchy_from(data, attribute, method, options, engine=engine)


def hierarchy_from(
    data: Data, attribute: str, method: str, options: Mapping[str, Any], *, engine: Engine[Any] | None = None
) -> Hierarchy:
    """A hierarchy made from a relation's own column, the options as they stand in a file or on a command line."""
    engine = engine_for(data, engine)
    others = other_attributes(method, options)
    if attribute in others:
        raise InputError(f"{attribute!r} cannot stand above itself; name other columns")
    attributes = [attribute, *others]
    table = open_data(engine, data, attributes)
    counted = engine.histogram(table, attributes, {})
    several = builder(method).needs is Needs.OTHERS
    kept = [i for i, values in enumerate(counted.values) if None not in (values[:1] if several else values)]
    above = [counted.values[i][1:] if several else str(counted.values[i][1]) for i in kept] if others else None
    column = Contingency([str(counted.values[i][0]) for i in kept], counted.counts[kept].tolist(), above)
    return build(method, column, **options)
