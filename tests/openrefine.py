"""OpenRefine itself, where it is installed, driven as its own pages drive it.

Debian has it (`apt install openrefine`); PACAS_OPENREFINE names another folder with its `server` and `webapp`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

FOLDER = Path(os.environ.get("PACAS_OPENREFINE", "/usr/share/openrefine"))
PATIENCE = 120
ALL_ROWS = json.dumps({"facets": [], "mode": "row-based"})


def is_installed() -> bool:
    return (FOLDER / "server").is_dir() and shutil.which("java") is not None


class OpenRefine:
    """One that runs, and a project in it."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=60)

    def open(self, csv: str) -> None:
        """A new project from a CSV."""
        sent = self.client.post(
            "/command/core/create-project-from-upload",
            params={"csrf_token": self._token()},
            data={"project-name": "dirty", "format": "text/line-based/*sv", "options": '{"separator": ","}'},
            files={"project-file": ("dirty.csv", csv.encode(), "text/csv")},
        )
        self.project = sent.headers["location"].partition("project=")[2]

    def guessed_types(self, column: str, service: str) -> Any:
        return self._post("guess-types-of-column", params={"columnName": column, "service": service})["types"]

    def reconcile(self, column: str, service: str, manifest: Any, type_: Any, others: list[str]) -> None:
        """Reconcile a column against a type, other columns with it as the properties of their names."""
        details = [{"column": name, "property": {"id": name, "name": name}} for name in others]
        config = {
            "mode": "standard-service",
            "service": service,
            "identifierSpace": manifest["identifierSpace"],
            "schemaSpace": manifest["schemaSpace"],
            "type": type_,
            "autoMatch": True,
            "columnDetails": details,
            "limit": 0,
        }
        self._post("reconcile", columnName=column, config=json.dumps(config), engine=ALL_ROWS)
        self._wait()

    def preview(self, column: str, rows: list[int], properties: list[Any]) -> list[Any]:
        """What the dialog shows for the rows in sight."""
        extension = json.dumps({"properties": properties})
        params = {"columnName": column}
        return self._post("preview-extend-data", params=params, rowIndices=json.dumps(rows), extension=extension)[
            "rows"
        ]

    def extend(self, column: str, service: str, manifest: Any, properties: list[Any]) -> None:
        """Add columns with what the service tells."""
        self._post(
            "extend-data",
            baseColumnName=column,
            columnInsertIndex="1",
            endpoint=service,
            identifierSpace=manifest["identifierSpace"],
            schemaSpace=manifest["schemaSpace"],
            extension=json.dumps({"properties": properties}),
            engine=ALL_ROWS,
        )
        self._wait()

    def exported(self) -> str:
        data = {"project": self.project, "format": "csv", "engine": ALL_ROWS}
        return self.client.post("/command/core/export-rows/dirty.csv", data=data).text

    def _post(self, command: str, params: dict[str, str] | None = None, **form: str) -> Any:
        sent = self.client.post(
            f"/command/core/{command}",
            params={"project": self.project, **(params or {})},
            data={"csrf_token": self._token(), **form},
        )
        told = sent.json()
        assert told.get("code", "ok") != "error", told
        return told

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while self.client.get("/command/core/get-processes", params={"project": self.project}).json()["processes"]:
            assert time.monotonic() < end, "OpenRefine does not come to an end"
            time.sleep(0.1)

    def _token(self) -> str:
        return self.client.get("/command/core/get-csrf-token").json()["token"]


@contextmanager
def running(folder: Path) -> Iterator[OpenRefine]:
    """OpenRefine on a loopback port, its projects in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"headless": "true", "port": port, "interface": "127.0.0.1", "data_dir": folder, "webapp": "webapp"}
    given = [f"-Drefine.{name}={value}" for name, value in options.items()]
    command = ["java", "-cp", "server/*", "-Xmx512m", "-Djava.awt.headless=true", *given, "com.google.refine.Refine"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=FOLDER, stdout=log, stderr=log)
    refine = OpenRefine(f"http://127.0.0.1:{port}")
    try:
        _await(refine, process)
        yield refine
    finally:
        refine.client.close()
        process.terminate()
        process.wait(PATIENCE)


def _await(refine: OpenRefine, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, "OpenRefine has ended"
        try:
            if refine.client.get("/command/core/get-version").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("OpenRefine does not start")
