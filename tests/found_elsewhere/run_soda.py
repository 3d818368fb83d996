"""Let Soda scan `patients.csv` and write the failed rows that its sampler is given: `python run_soda.py FOLDER`.

It runs in an environment of its own (`requirements/soda.lock`), whose packages do not go with PACAS's.
"""

from __future__ import annotations

import csv
import sys
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

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store_sample(self, context: SampleContext) -> None:
        name = "soda_missing.csv" if context.check_name.startswith("missing") else "soda_failed_rows.csv"
        with (self._folder / name).open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(column.name for column in context.sample.get_schema().columns)
            lines.writerows(context.sample.get_rows())


def main(folder: Path) -> None:
    database = duckdb.connect()
    database.execute(f"CREATE TABLE patients AS SELECT * FROM read_csv('{HERE / 'patients.csv'}')")
    scan = Scan()
    scan.set_scan_definition_name("patients")
    scan.add_duckdb_connection(database)
    scan.set_data_source_name("duckdb")
    scan.add_sodacl_yaml_str(CHECKS)
    scan.sampler = Kept(folder)
    scan.execute()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
