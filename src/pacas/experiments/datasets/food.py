"""Food: restaurant inspections of New York City.

Paper: §7, σ5 and σ6; quasi-identifiers inspection type, borough and grade.

- [borough, zipcode] → address holds for 4 % of the rows. The left side is widened by the restaurant's name, and the
  few chains with several addresses in one zip code are settled by majority.
- The publisher stores descriptions by code, so σ6 holds by construction.
- An address carries its zip code: the same house number and street exist in several boroughs.
- Restaurants are drawn whole, with all their inspections, since single rows would leave classes of one or two rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.engine.questions import embedded_engine
from pacas.experiments.datasets.curation import CuratedTable
from pacas.experiments.datasets.dataset import Dataset, curated
from pacas.formats.relations.relations import read_relation, scan_relation

ROWS = 30_000
FDS = FunctionalDependency.parse_all(
    ["boro, zipcode, dba -> address", "violation_code, inspection_type -> violation_description"]
)
LARGEST_CLASS = 5_000
COLUMNS = (
    "dba",
    "boro",
    "zipcode",
    "address",
    "inspection_date",
    "inspection_type",
    "violation_code",
    "violation_description",
    "score",
    "grade",
    "cuisine_description",
)
_FAMILIES = {
    "food": ("02", "03", "07", "09", "16"),
    "handling": ("04", "06", "20"),
    "premises": ("05", "08", "10", "22"),
    "smoking and papers": ("15", "18", "99"),
}
"""The chapters of the inspection code, two digits each, by what they are about."""


def load_food(data: Path, rows: int | None, seed: int) -> Dataset:
    """Inspections of whole restaurants: as many rows as asked for, 30,000 at most, as in the paper."""
    raw = _inspections(data / "food" / "nyc_restaurant_inspections_2016.csv.gz")
    places = _places(read_relation(data / "food" / "zip_neighborhood_borough.csv").table)
    codes = read_relation(data / "food" / "violation_codes.csv").table
    bench = CuratedTable(raw)
    bench.require("violation_description", "address")
    known = pc.is_in(bench.table["zipcode"], value_set=pa.array(list(places)))
    bench.keep(known, "rows without a neighbourhood for their zip code left out")
    bench.draw(ROWS if rows is None else min(rows, ROWS), seed, whole="camis")
    bench.table = _with_zip_codes(bench.table)
    bench.fill("grade", "Not graded")
    borough = pc.index_in(bench.table["zipcode"], value_set=pa.array(list(places)))
    bench.rewrite("boro", pa.array([place[1] for place in places.values()]).take(borough), "the zip code's borough")
    hierarchies = {"address": _addresses(bench.table, places), "violation_description": _violations(codes)}
    bench.table = bench.table.select(list(COLUMNS))
    return curated(
        "food",
        bench,
        FDS,
        hierarchies,
        ("inspection_type", "boro", "grade"),
        "NYC DOHMH restaurant inspections, January 2016",
        LARGEST_CLASS,
    )


def _inspections(file: Path) -> pa.Table:
    read = [*COLUMNS, "camis", "street"]
    engine = embedded_engine()
    return engine.rows(engine.open(scan_relation(file), read), None, read)


def _with_zip_codes(table: pa.Table) -> pa.Table:
    """Addresses and streets with their zip codes."""
    for column in ("address", "street"):
        joined = pc.binary_join_element_wise(table[column], table["zipcode"], ", ")
        table = table.set_column(table.column_names.index(column), column, joined)
    return table


def _places(table: pa.Table) -> dict[str, tuple[str, str]]:
    """Neighbourhood and borough of each zip code that has both."""
    rows = zip(*(table[column].to_pylist() for column in ("ZipCode", "Neighborhood", "boro")), strict=True)
    return {code: (neighbourhood, boro) for code, neighbourhood, boro in rows if neighbourhood and boro}


def _addresses(table: pa.Table, places: dict[str, tuple[str, str]]) -> Hierarchy:
    """Address, street, zip code, neighbourhood, borough, and the city."""
    distinct = table.group_by(["address", "street", "zipcode"]).aggregate([]).to_pylist()
    rows = []
    for row in sorted(distinct, key=lambda row: (row["address"], row["street"])):
        rows.append((row["address"], f"street {row['street']}", f"zip {row['zipcode']}", *places[row["zipcode"]]))
    return Hierarchy.from_rows([(*row, ROOT) for row in {row[0]: row for row in rows}.values()])


def _violations(table: pa.Table) -> Hierarchy:
    """Description, a run of the chapter's letters, the chapter, its family, and the root."""
    family = {chapter: name for name, chapters in _FAMILIES.items() for chapter in chapters}
    return Hierarchy.from_rows(
        [(text, f"{code[:2]}{_run(code[2])}", code[:2], family[code[:2]], ROOT) for text, code in _coded(table)]
    )


def _coded(table: pa.Table) -> Iterator[tuple[str, str]]:
    """Each description once, with the first code that has it."""
    codes: dict[str, str] = {}
    for text, code in zip(table["violation_description"].to_pylist(), table["violation_code"].to_pylist(), strict=True):
        if text is not None:
            codes.setdefault(text, code)
    yield from codes.items()


def _run(letter: str) -> str:
    """Four letters of a chapter, which mostly speak of one thing."""
    first = (ord(letter) - ord("A")) // 4 * 4 + ord("A")
    return f"{chr(first)}-{chr(first + 3)}"
