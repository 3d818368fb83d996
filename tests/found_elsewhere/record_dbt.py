"""Let dbt test `patients.csv` and keep what its store_failures tables hold: `python record_dbt.py`.

It was run in an environment of its own (dbt-core 1.11.16, dbt-duckdb 1.10.1), whose packages do not go with PACAS's.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
PROJECT = "name: clinic\nversion: '1.0'\nprofile: clinic\n"
PROFILE = "clinic:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: clinic.duckdb, threads: 1}\n"
SEEDS = """\
version: 2
seeds:
  - name: patients
    columns:
      - name: MED
        data_tests:
          - not_null: {config: {store_failures: true}}
          - accepted_values:
              config: {store_failures: true}
              arguments: {values: [ibuprofen, intropes, addaprin, naproxen, appaprtin, dolex]}
"""
TABLES = {"not_null_patients_MED": "dbt_not_null.csv", "accepted_values%": "dbt_accepted_values.csv"}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "seeds").mkdir()
        shutil.copy(HERE / "patients.csv", project / "seeds")
        (project / "dbt_project.yml").write_text(PROJECT)
        (project / "profiles.yml").write_text(PROFILE)
        (project / "seeds" / "seeds.yml").write_text(SEEDS)
        subprocess.run(["dbt", "build", "--profiles-dir", "."], cwd=project, check=False)  # tests fail: that is meant
        database = duckdb.connect(str(project / "clinic.duckdb"))
        for like, file in TABLES.items():
            found = database.execute(
                "SELECT table_schema, table_name FROM information_schema.tables WHERE table_name LIKE ?", [like]
            ).fetchone()
            assert found is not None
            database.execute(f'COPY "{found[0]}"."{found[1]}" TO \'{HERE / file}\' (HEADER)')


if __name__ == "__main__":
    main()
