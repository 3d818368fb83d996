"""The paper's running example: a broker's curated medical records, and a client's dirty ones.

Paper: Tables 1–3, Figures 1 and 2. The figures are not in the paper's text; the two hierarchies are written from
its examples: NSAID and acetaminophen are analgesics, intropes is a vasodilator, [31,60] and [61,90] are ages.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from pacas.core.builders import intervals
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation


def _table(header: str, *rows: str) -> Relation:
    columns = zip(*(row.split() for row in rows), strict=True)
    return Relation(pa.table({name: pa.array(values) for name, values in zip(header.split(), columns, strict=True)}))


provider: Relation = _table(
    "ID   GEN     AGE  ZIP     DIAG            MED",
    "m1   male    51   P0T2T0  osteoarthritis  ibuprofen",
    "m2   female  45   P2Y9L8  tendinitis      addaprin",
    "m3   female  32   P8R2S8  migraine        naproxen",
    "m4   female  67   V8D1S3  ulcer           tylenol",
    "m5   male    61   V1A4G1  migraine        dolex",
    "m6   male    79   V5H1K9  osteoarthritis  ibuprofen",
)
"""Table 1, R_SP: what the provider knows."""

client: Relation = _table(
    "ID   GEN     AGE  DIAG            MED",
    "t1   male    51   osteoarthritis  ibuprofen",
    "t2   male    79   osteoarthritis  intropes",
    "t3   male    45   osteoarthritis  addaprin",
    "t4   female  32   ulcer           naproxen",
    "t5   female  67   ulcer           tylenol",
    "t6   male    61   migrane         dolex",
    "t7   female  32   pylorospasm     appaprtin",
    "t8   male    37   hypertension    dolex",
)
"""Table 2, R_CL: what the client has, errors and all."""

public: Relation = _table(
    "ID   GEN  AGE      ZIP  DIAG            MED",
    "g1   *    [31,60]  P*   osteoarthritis  ibuprofen",
    "g2   *    [31,60]  P*   tendinitis      addaprin",
    "g3   *    [31,60]  P*   migraine        naproxen",
    "g4   *    [61,90]  V*   ulcer           tylenol",
    "g5   *    [61,90]  V*   migraine        dolex",
    "g6   *    [61,90]  V*   osteoarthritis  ibuprofen",
)
"""Table 3: the provider's table with its quasi-identifiers generalized."""

med: Hierarchy = Hierarchy.from_rows(
    [
        ("ibuprofen", "NSAID", "analgesic", "*"),
        ("addaprin", "NSAID", "analgesic", "*"),
        ("naproxen", "NSAID", "analgesic", "*"),
        ("tylenol", "acetaminophen", "analgesic", "*"),
        ("dolex", "acetaminophen", "analgesic", "*"),
        ("intropes", "vasodilators", "cardiovascular", "*"),
    ]
)
"""Figure 1: medications."""

age: Hierarchy = intervals([str(years) for years in range(31, 91)], widths=[10, 30], origin=1)
"""Figure 2: ages, in tens and in thirties."""

hierarchies: Mapping[str, Hierarchy] = {"MED": med, "AGE": age}

fd: FunctionalDependency = FunctionalDependency(("GEN", "DIAG"), "MED")
"""φ: gender and diagnosis determine the medication."""

md: MatchingDependency = MatchingDependency.parse("GEN = GEN, AGE = AGE")
"""How a client's tuple finds the provider's."""
