"""Clinical at scale: hospital discharges in New York State, with the CCSR's names of diagnoses.

A stand-in for the paper's clinical trials at 345,000 rows. The publisher's cut has no drugs, so two other attributes
are sold: the diagnosis, found by its code and gender, which holds by construction, and where the patient went, found by
[diagnosis code, age, risk of death, length of stay, county] and settled by majority.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.experiments.datasets.curation import CuratedTable
from pacas.experiments.datasets.dataset import Dataset, curated
from pacas.formats.relations.relations import read_relation

NAMES = {
    "Patient.Disposition": "disposition",
    "los": "length_of_stay",
    "deathrisk": "risk_of_death",
    "age": "age",
    "Hospital.Service.Area": "service_area",
    "Hospital.County": "county",
    "Gender": "gender",
    "Race": "race",
    "Ethnicity": "ethnicity",
    "Type.of.Admission": "admission",
    "Emergency.Department.Indicator": "emergency",
    "CCSR.Diagnosis.Code": "diagnosis_code",
}
FDS = FunctionalDependency.parse_all(
    [
        "diagnosis_code, gender -> diagnosis",
        "diagnosis_code, age, risk_of_death, length_of_stay, county -> disposition",
    ]
)
LARGEST_CLASS = 50_000
"""Above the largest class, one diagnosis among women."""

_FAMILIES = {
    "organs of the trunk": ("CIR", "DIG", "GEN", "RSP", "END"),
    "senses, nerves and mind": ("EYE", "EAR", "NVS", "MBD"),
    "skin, bones and blood": ("SKN", "MUS", "BLD", "INJ"),
    "birth and growth": ("PRG", "PNL", "MAL", "NEO"),
    "causes and signs": ("INF", "EXT", "FAC", "SYM", "XXX"),
}
"""The CCSR's body systems by what they are about."""

_DISPOSITIONS = (  # where patients went, in five levels
    ("Home or Self Care", "home alone", "home alone", "home"),
    ("Home w/ Home Health Services", "home with help", "home with help", "home"),
    ("Hospice - Home", "hospice at home", "hospice at home", "home"),
    ("Short-term Hospital", "acute", "general", "hospital"),
    ("Critical Access Hospital", "acute", "general", "hospital"),
    ("Admitted from Ambulatory Surgery", "surgery", "general", "hospital"),
    ("Psychiatric Hospital or Unit of Hosp", "psychiatric", "psychiatric", "hospital"),
    ("Cancer Center or Children's Hospital", "cancer or children", "special", "hospital"),
    ("Federal Health Care Facility", "federal", "special", "hospital"),
    ("Hospice - Medical Facility", "hospice unit", "hospice unit", "hospital"),
    ("Skilled Nursing Home", "skilled nursing", "nursing", "care"),
    ("Medicaid Cert Nursing Facility", "medicaid nursing", "nursing", "care"),
    ("Facility w/ Custodial/Supportive Care", "custodial", "custodial", "care"),
    ("Inpatient Rehabilitation Facility", "rehabilitation", "rehabilitation", "care"),
    ("Hosp Basd Medicare Approved Swing Bed", "swing bed", "long term", "care"),
    ("Medicare Cert Long Term Care Hospital", "long-term hospital", "long term", "care"),
    ("Left Against Medical Advice", "left", "left", "elsewhere"),
    ("Court/Law Enforcement", "law", "law", "elsewhere"),
    ("Another Type Not Listed", "not listed", "not listed", "elsewhere"),
)


def load_discharges(data: Path, rows: int | None, seed: int) -> Dataset:
    """Discharges of survivors in 2020: 339,006 rows."""
    raw = read_relation(data / "clinical" / "sparcs_2020_survivorSet.csv.gz").table
    categories = read_relation(data / "clinical" / "ccsr_categories.csv").table
    bench = CuratedTable(raw.rename_columns(NAMES))
    bench.draw(rows, seed)
    found = pc.index_in(bench.table["diagnosis_code"].combine_chunks(), value_set=categories["ccsr"].combine_chunks())
    bench.add("diagnosis", categories["description"].take(found))
    bench.add("body_system", categories["chapter"].take(found))
    bench.require("diagnosis")
    dispositions = Hierarchy.from_rows([(*row, ROOT) for row in _DISPOSITIONS])
    hierarchies = {"diagnosis": diagnoses(categories), "disposition": dispositions}
    identifying = ("gender", "age", "race", "county")
    source = "New York SPARCS inpatient discharges 2020, named by AHRQ's CCSR"
    return curated("discharges", bench, FDS, hierarchies, identifying, source, LARGEST_CLASS)


def diagnoses(categories: pa.Table) -> Hierarchy:
    """Diagnosis, four neighbouring codes, twelve of them, the body system, its family, and the root."""
    family = {system: name for name, systems in _FAMILIES.items() for system in systems}
    rows = []
    for code, text in zip(categories["ccsr"].to_pylist(), categories["description"].to_pylist(), strict=True):
        system, number = code[:3], int(code[3:])
        rows.append((text, _run(system, number, 4), _run(system, number, 12), system, family[system], ROOT))
    return Hierarchy.from_rows(rows)


def _run(system: str, number: int, many: int) -> str:
    """Codes stand in order of what they mean, so that neighbours are kin."""
    first = (number - 1) // many * many + 1
    return f"{system}{first:03}-{first + many - 1:03}"
