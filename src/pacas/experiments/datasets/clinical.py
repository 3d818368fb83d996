"""Clinical: trials of ClinicalTrials.gov whose first drug the ATC knows.

Paper: §7, φ1 and φ2; quasi-identifiers country, gender, source and age.

- [age, overall_status, gender] → drug_name holds for 46 % of the rows. The left side is widened by the trial's source;
  the rest is settled by majority.
- The registry's export has no time frame, so φ2 is [overall_status, measure] → condition, by majority.
- `drug_name` is the ATC's name of the trial's drug, not the trial's own spelling; its place is its first code there.
- Conditions are free text. A short list of words finds their ICD-10 code; what it does not find is ill-defined (R69).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.experiments.datasets.curation import CuratedTable
from pacas.experiments.datasets.dataset import Dataset, curated
from pacas.formats.relations.relations import read_relation

FDS = FunctionalDependency.parse_all(
    ["source, age, overall_status, gender -> drug_name", "overall_status, measure -> condition"]
)
_ATC = ("L4_chem_subgroup", "L3_pharm_subgroup", "L2_therapeutic", "L1_anatomical")
_ATC_LENGTHS = (5, 4, 3, 1)
_CONDITIONS = (
    ("covid|sars-?cov|sars 2|corona|ncov", "U07.1"),
    ("severe acute respiratory", "U04.9"),
    ("distress|ards", "J80"),
    ("respiratory failure|hypox|ventilation", "J96.0"),
    ("pneumocystis", "B48.5"),
    ("pneumonia, viral", "J12.9"),
    ("pleuropneumonia|pneumonia|pneumonitis", "J18.9"),
    ("respiratory|pulmonary", "J22"),
    ("sickle cell", "D57.1"),
    ("aplastic", "D61.9"),
    ("thrombocytopenia", "D69.3"),
    ("coagul", "D68.9"),
    ("cytokine", "D89.8"),
    ("breast cancer", "C50.9"),
    ("lymphoid|leuk|b cell", "C96.9"),
    ("cancer|neoplasm|malignant", "C80.9"),
    ("matern", "O95"),
    ("pregnan", "O99.8"),
    ("diabetes", "E11.9"),
    ("hyperglyc", "R73.9"),
    ("anosmia", "R43.0"),
    ("kidney", "N17.9"),
    ("cerebrovascular", "I64"),
    ("cardio", "I51.6"),
    ("arthritis", "M06.9"),
    ("vir", "B34.9"),
    ("bcg|prophyla", "Z29.9"),
    ("healthcare|health", "Z57.8"),
)
"""Words of a condition, the first that fits, and the ICD-10 code that it then has."""
_ILL_DEFINED = "R69"


def load_clinical(data: Path, rows: int | None, seed: int) -> Dataset:
    """Trials by country and outcome measure, drawn by their source where fewer rows are asked for."""
    raw = read_relation(data / "clinical" / "covid_trials_primary.csv.gz").table
    drugs = _drugs(read_relation(data / "hierarchies" / "atc_drug_vgh.csv").table)
    bench = CuratedTable(raw.drop_columns(["id", "drug_name"]).rename_columns({"atc_drug": "drug_name"}))
    bench.keep(
        pc.is_in(raw["atc_drug"], value_set=pa.array(drugs.ground_labels)), "rows without a drug of the ATC left out"
    )
    bench.require("gender", "measure")
    conditions = _conditions(data, [str(text) for text in pc.unique(bench.table["condition"]).to_pylist()])
    bench.draw(rows, seed, whole="source")
    bench.fill("country", "Not stated")
    hierarchies = {"drug_name": drugs, "condition": conditions}
    identifying = ("country", "gender", "source", "age")
    source = "ClinicalTrials.gov, COVID-19 trials of September 2020, with WHO's ATC and ICD-10"
    return curated("clinical", bench, FDS, hierarchies, identifying, source)


def _drugs(table: pa.Table) -> Hierarchy:
    """Substance, chemical, pharmacological, therapeutic and anatomical group, and the root: the ATC by its codes."""
    columns = [table[column].to_pylist() for column in ("drug", "atc5", *_ATC)]
    rows: dict[str, tuple[str, ...]] = {}
    names: dict[str, str] = {}
    for drug, code, *groups in zip(*columns, strict=True):
        prefixes = [code[:length] for length in _ATC_LENGTHS]
        labels = [names.setdefault(prefix, f"{prefix} {name}") for prefix, name in zip(prefixes, groups, strict=True)]
        rows.setdefault(drug, (drug, *labels, ROOT))
    return Hierarchy.from_rows(rows.values())


def _conditions(data: Path, texts: Iterable[str]) -> Hierarchy:
    """Condition, ICD-10 code, category, block, chapter, and the root. Codes that no trial has are conditions too."""
    tree = read_relation(data / "hierarchies" / "icd10_who_tree.csv").table
    codes, names, parents = (tree[column].to_pylist() for column in ("code", "description", "parent"))
    parent = dict(zip(codes, parents, strict=True))
    label = {code: f"{code} {name}" for code, name in zip(codes, names, strict=True)}
    inner = set(parents)
    line = {code: [label[above] for above in _line(code, parent)] for code in codes if code not in inner}
    found = {text: _code(text) for text in sorted(texts)}
    rows = [(text, *line[code], ROOT) for text, code in found.items()]
    unused = [line[code] for code in sorted(set(line) - set(found.values()))]
    return Hierarchy.from_rows([*rows, *((above[0], *above, ROOT) for above in unused)])


def _line(code: str, parent: dict[str, str | None]) -> Iterator[str]:
    """A code, its category, the innermost block and the chapter; a category without codes stands for its own."""
    above = [code]
    while (next_one := parent[above[-1]]) is not None:
        above.append(next_one)
    category = code[:3]
    yield from (code, category, above[above.index(category) + 1], above[-1])


def _code(text: str) -> str:
    return next((code for words, code in _CONDITIONS if re.search(words, text.lower())), _ILL_DEFINED)
