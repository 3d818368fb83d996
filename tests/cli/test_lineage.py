"""`pacas clean --lineage`: OpenLineage events to a file or an address, never values, never in the way of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any
from uuid import UUID

import pytest

from pacas import read_relation
from pacas.cli.clean import lineage

CLEAN = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--strategy", "paper")


def told(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_event(event: dict[str, Any]) -> None:
    """What OpenLineage's specification asks of a run event and of facets."""
    assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    assert UUID(event["run"]["runId"])
    assert event["producer"].startswith("pkg:pypi/pacas@") and event["schemaURL"].endswith("RunEvent")
    for named in (event["job"], *event["inputs"], *event["outputs"]):
        assert named["namespace"] and named["name"]
    places = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
    facets = [facet for place in places for facet in place["facets"].values()]
    facets += [facet for place in event["outputs"] for facet in place.get("outputFacets", {}).values()]
    assert all(facet["_producer"] and ":" in facet["_schemaURL"] for facet in facets)


def test_a_run_tells_where_its_columns_came_from_and_how_many_cells_were_repaired(pacas: Any, folder: Path) -> None:
    assert pacas(*CLEAN, "--lineage", "events.jsonl", "--output", "out.csv").code == 0
    start, complete = told(folder / "events.jsonl")
    for event in (start, complete):
        check_event(event)
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"]
    client, provider = complete["inputs"]
    assert (client["namespace"], client["name"]) == ("file", str(folder / "client.csv"))
    assert provider["name"] == str(folder / "provider.toml")
    output = complete["outputs"][0]
    assert output["name"] == str(folder / "out.csv")
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 8
    fields = {
        column: [(one["field"], one["transformations"][0]["subtype"], one["name"] == client["name"]) for one in found]
        for column, found in (
            (column, told["inputFields"]) for column, told in output["facets"]["columnLineage"]["fields"].items()
        )
    }
    assert fields == {
        **{column: [(column, "IDENTITY", True)] for column in ("ID", "GEN", "AGE", "DIAG")},
        "MED": [
            ("MED", "TRANSFORMATION", True),
            ("MED", "TRANSFORMATION", False),
            ("GEN", "CONDITIONAL", True),
            ("DIAG", "CONDITIONAL", True),
        ],
    }
    counts = complete["run"]["facets"]["pacas_cleaning"]
    assert {k: v for k, v in counts.items() if not k.startswith("_")} == {
        "repairedCells": {"MED": 3},
        "purchases": 2,
        "spentNanocredits": 1_400_000_000,
        "violationsBefore": 4,
        "violationsAfter": 0,
        "unrepairedClasses": 0,
    }


def test_no_event_has_a_value_of_either_party(pacas: Any, folder: Path) -> None:
    pacas(*CLEAN, "--lineage", "events.jsonl")
    text = (folder / "events.jsonl").read_text()
    for file in ("client.csv", "sp.csv"):
        for column in read_relation(file).table.to_pydict().values():
            assert not [value for value in column if value and len(value) > 2 and value in text]


def test_a_run_that_fails_says_so_without_its_words(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left: ibuprofen")

    monkeypatch.setattr("pacas.cli.clean.run.write_cleaned", fail)
    assert pacas(*CLEAN, "--lineage", "events.jsonl").code == 2
    start, failed = told(folder / "events.jsonl")
    check_event(failed)
    assert (start["eventType"], failed["eventType"]) == ("START", "FAIL")
    assert "ibuprofen" not in json.dumps(failed)


def test_events_are_appended_and_columns_keep_the_providers_names(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text().replace('"MED"', '"Drug"')
    (folder / "client.csv").write_text(text)
    (folder / "client.toml").write_text(
        'data = "client.csv"\nfds = ["GEN, DIAG -> Drug"]\n[hierarchies]\nDrug = "med.csv"\n[columns]\nDrug = "MED"\n'
    )
    for output in ("a.csv", "b.csv"):
        assert pacas(*CLEAN, "--lineage", "events.jsonl", "--output", output).code == 0
    events = told(folder / "events.jsonl")
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"] * 2
    fields = events[1]["outputs"][0]["facets"]["columnLineage"]["fields"]["Drug"]["inputFields"]
    assert [one["field"] for one in fields] == ["Drug", "MED", "GEN", "DIAG"]


def test_without_a_provider_only_the_table_is_an_input(pacas: Any, folder: Path) -> None:
    assert pacas("clean", "client.toml", "--lineage", "events.jsonl").code in (0, 3)
    assert len(told(folder / "events.jsonl")[1]["inputs"]) == 1


class Sink(BaseHTTPRequestHandler):
    """Takes events, or refuses them."""

    status = 201
    promised = 0
    drips = 0
    taken: list[tuple[str, str | None, dict[str, Any]]] = []  # noqa: RUF012  # of one test at a time

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append((self.path, self.headers.get("Authorization"), json.loads(body)))
        self.send_response(self.status)
        self.flush_headers()
        for _ in range(self.drips):
            sleep(0.3)
            with suppress(OSError):
                self.wfile.write(b"X-Soon: 1\r\n")
        self.send_header("Content-Length", str(self.promised))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def sink() -> Iterator[str]:
    Sink.taken, Sink.status, Sink.promised, Sink.drips = [], 201, 0, 0
    server = HTTPServer(("127.0.0.1", 0), Sink)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address_gets_each_event_with_the_key(pacas: Any, sink: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "k")
    result = pacas(*CLEAN, "--lineage", sink)
    assert (result.code, result.err) == (0, "")
    assert [(path, key, event["eventType"]) for path, key, event in Sink.taken] == [
        ("/api/v1/lineage", "Bearer k", "START"),
        ("/api/v1/lineage", "Bearer k", "COMPLETE"),
    ]


def test_what_a_sink_says_besides_its_status_is_not_waited_for(pacas: Any, sink: str) -> None:
    Sink.promised = 10  # of which none comes
    assert (pacas(*CLEAN, "--lineage", sink).err, len(Sink.taken)) == ("", 2)


def test_a_sink_that_fails_harms_no_run_and_is_told_of_once(pacas: Any, folder: Path, sink: str) -> None:
    assert pacas(*CLEAN, "--output", "expected.csv").code == 0
    Sink.status = 500
    (folder / "here").mkdir()
    for number, (named, why) in enumerate(
        [
            (f"{sink}/own/path", "the answer was 500"),
            ("http://127.0.0.1:9", "ConnectError"),
            ("here", "Is a directory"),
            ("no/such/events.jsonl", "No such file or directory"),
        ]
    ):
        result = pacas(*CLEAN, "--lineage", named, "--output", f"{number}.csv")
        assert result.code == 0
        assert result.err == f"pacas: lineage could not be told ({why}); the run goes on\n"
        assert (folder / f"{number}.csv").read_bytes() == (folder / "expected.csv").read_bytes()
    assert Sink.taken[0][0] == "/own/path"


def test_a_sink_that_does_not_end_is_not_waited_for(
    pacas: Any, folder: Path, sink: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that answers a little at a time, and a pipe that nobody reads."""
    monkeypatch.setattr(lineage, "SECONDS", 0.5)
    Sink.drips = 4
    os.mkfifo(folder / "pipe")
    for named in (sink, "pipe"):
        result = pacas(*CLEAN, "--lineage", named)
        assert result.code == 0
        assert result.err == "pacas: lineage could not be told (it took more than 0.5 seconds); the run goes on\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--lineage", "ftp://x.example"), "--lineage takes a file, or an address such as https://"),
        (("--lineage", "http://[x"), "--lineage takes a file, or an address such as https://"),
        (("--lineage", "https://x:y/"), "--lineage takes a file, or an address such as https://"),
        (("--provider", "http://[x"), "'http://[x' is no URL; give it as https://host"),
        (("--lineage", "client.csv"), "client.csv is read by this run; give another --lineage"),
        (("--lineage", "client.clean.csv"), "client.clean.csv is written by this run; give another --lineage"),
        (("--lineage", "e.jsonl", "--dry-run"), "--lineage tells what was written, and a dry run writes nothing"),
    ],
)
def test_bad_options_cost_nothing(pacas: Any, folder: Path, options: tuple[str, ...], said: str) -> None:
    assert said in pacas(*CLEAN, *options).complaint
    assert not (folder / "client.clean.csv.journal").exists()


def test_every_provider_is_an_input_and_a_column_comes_from_those_who_sold_it(pacas: Any, folder: Path) -> None:
    """The other one calls the column by another name, and a third is away."""
    text = (folder / "client.csv").read_text().replace('"MED"', '"Drug"')
    (folder / "client.csv").write_text(text)
    (folder / "client.toml").write_text(
        'data = "client.csv"\nfds = ["GEN, DIAG -> Drug"]\n[hierarchies]\nDrug = "med.csv"\n[columns]\nDrug = "MED"\n'
    )
    sold = (folder / "provider.toml").read_text().replace("provider.ledger.db", "other.ledger.db")
    (folder / "other.toml").write_text(sold.replace("sp.csv", "other.csv").replace("MED", "Drug"))
    (folder / "other.csv").write_text((folder / "sp.csv").read_text().replace("MED", "Drug"))
    panel = ("--provider", "A=provider.toml", "--provider", "B=other.toml", "--provider", "C=http://127.0.0.1:9")
    clean = ("clean", "client.toml", "--budget", "4", "--strategy", "paper", *panel, "--token", "t")
    told_of = pacas(*clean, "--lineage", "events.jsonl", "--output", "out.csv", "--json").out
    bought = {purchase["provider"] for purchase in json.loads(told_of)["purchases"]}
    assert bought == {"A", "B"}
    start, complete = told(folder / "events.jsonl")
    for event in (start, complete):
        check_event(event)
        named = [str(folder / file) for file in ("client.csv", "provider.toml", "other.toml")]
        assert [one["name"] for one in event["inputs"]] == named, "who is away is asked nothing"
    schemas = [[f["name"] for f in one["facets"]["schema"]["fields"]] for one in complete["inputs"][1:]]
    assert schemas == [["MED"], ["Drug"]]
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]["Drug"]["inputFields"]
    assert [(Path(one["name"]).name, one["field"]) for one in fields] == [
        ("client.csv", "Drug"),
        ("provider.toml", "MED"),
        ("other.toml", "Drug"),
        ("client.csv", "GEN"),
        ("client.csv", "DIAG"),
    ]


def test_a_provider_that_sold_nothing_is_asked_and_no_columns_source(pacas: Any, folder: Path) -> None:
    assert pacas(*CLEAN, "--budget", "0", "--lineage", "events.jsonl").code == 0
    _, complete = told(folder / "events.jsonl")
    assert [Path(one["name"]).name for one in complete["inputs"]] == ["client.csv", "provider.toml"]
    assert complete["inputs"][1]["facets"] == {}
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"].values()
    assert {Path(one["name"]).name for told_of in fields for one in told_of["inputFields"]} == {"client.csv"}
