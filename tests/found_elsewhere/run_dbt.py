"""Let dbt test `patients.csv` and write what its store_failures tables hold: `python run_dbt.py FOLDER`.

It runs in an environment of its own (`requirements/dbt.lock`), whose packages do not go with PACAS's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "seeds").mkdir()
        shutil.copy(HERE / "patients.csv", project / "seeds")
        (project / "dbt_project.yml").write_text(PROJECT)
        (project / "profiles.yml").write_text(PROFILE)
        (project / "seeds" / "seeds.yml").write_text(SEEDS)
        dbt = Path(sys.executable).with_name("dbt")
        quiet = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_VERSION_CHECK": "false"}
        command = [str(dbt), "build", "--profiles-dir", "."]
        subprocess.run(command, cwd=project, env=quiet, check=False)  # tests fail: that is meant
        database = duckdb.connect(str(project / "clinic.duckdb"))
        for like, file in TABLES.items():
            found = database.execute(
                "SELECT table_schema, table_name FROM information_schema.tables WHERE table_name LIKE ?", [like]
            ).fetchone()
            assert found is not None
            database.execute(f'COPY "{found[0]}"."{found[1]}" TO \'{folder / file}\' (HEADER)')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
