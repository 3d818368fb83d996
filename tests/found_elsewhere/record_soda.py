"""Let Soda scan `patients.csv` and keep the failed rows that its sampler is given: `python record_soda.py`.

It was run in an environment of its own (soda-core-duckdb 3.5.6 with pandas), whose packages do not go with PACAS's.
"""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
from soda.sampler.sample_context import SampleContext
from soda.sampler.sampler import Sampler
from soda.scan import Scan

HERE = Path(__file__).parent
CHECKS = """
checks for patients:
  - missing_count(MED) = 0
  - failed rows:
      name: tylenol is no longer given
      fail condition: MED = 'tylenol'
"""


class Kept(Sampler):
    """Writes the failed rows of each check as a CSV file."""

    def store_sample(self, context: SampleContext) -> None:
        name = "soda_missing.csv" if context.check_name.startswith("missing") else "soda_failed_rows.csv"
        with (HERE / name).open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(column.name for column in context.sample.get_schema().columns)
            lines.writerows(context.sample.get_rows())


def main() -> None:
    database = duckdb.connect()
    database.execute(f"CREATE TABLE patients AS SELECT * FROM read_csv('{HERE / 'patients.csv'}')")
    scan = Scan()
    scan.set_scan_definition_name("patients")
    scan.add_duckdb_connection(database)
    scan.set_data_source_name("duckdb")
    scan.add_sodacl_yaml_str(CHECKS)
    scan.sampler = Kept()
    scan.execute()


if __name__ == "__main__":
    main()
