"""`pacas errors`."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FD = ("--fd", "A -> B")
FILES = ("--output", "dirty.csv", "--log", "changes.csv")


@pytest.fixture(autouse=True)
def data(folder: Path) -> None:
    """Ten groups of ten rows, one of a single row, and one that violates A -> B already; quotes, and CRLF."""
    lines = [f'{n % 10},b{n % 10},"c, {n}"' for n in range(100)] + ["x,x,x", "y,1,x", "y,2,x"]
    (folder / "d.csv").write_bytes(("\r\n".join(["A,B,C", *lines]) + "\r\n").encode())


def records(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def replay(rows: list[dict[str, str]], log: list[dict[str, str]], old: str, new: str) -> list[dict[str, str]]:
    changed = [dict(row) for row in rows]
    for line in log:
        assert changed[int(line["row"])][line["attribute"]] == line[old] != line[new]
        changed[int(line["row"])][line["attribute"]] = line[new]
    return changed


def test_the_json_has_the_promised_shape(pacas: Any, folder: Path) -> None:
    result = pacas("errors", "d.csv", *FD, "--rate", "0.1", "--seed", "1", *FILES, "--json")
    assert result.code == 0
    document = result.document
    assert {"rows": 103, "changed": 10}.items() <= document.items()
    assert sum(document["by_kind"].values()) == 10 and set(document["by_kind"]) <= {"rhs_fresh", "rhs_domain"}
    assert document["short"] == [] and document["left_alone"] == [{"fd": "A -> B", "groups": 1}]
    assert (document["output"], document["log"], document["repairability"]) == ("dirty.csv", "changes.csv", None)
    assert (folder / "changes.csv").read_text().splitlines()[0] == "row,attribute,old,new,kind"


def test_the_log_makes_the_dirty_table_of_the_clean_one_and_back(pacas: Any, folder: Path) -> None:
    pacas(
        *("errors", "d.csv", *FD, "--rate", "0.1", "--side", "both", "--random", "0.2", "--attribute", "C"),
        *("--kind", "typo", "--kind", "null", *FILES),
    )
    clean, dirty, log = (records(folder / name) for name in ("d.csv", "dirty.csv", "changes.csv"))
    assert len(log) == 31 and {"null", "typo", "lhs_domain"} <= {line["kind"] for line in log}
    assert replay(clean, log, "old", "new") == dirty
    assert replay(dirty, log, "new", "old") == clean


def test_lines_without_an_error_stay_byte_for_byte(pacas: Any, folder: Path) -> None:
    pacas("errors", "d.csv", *FD, "--rate", "0.05", *FILES)
    before, after = ((folder / name).read_bytes().split(b"\n") for name in ("d.csv", "dirty.csv"))
    changed = {int(line["row"]) for line in records(folder / "changes.csv")}
    assert {n - 1 for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b} == changed
    assert all(line.endswith(b"\r") for line in after[:-1])


def test_the_same_seed_gives_the_same_bytes(pacas: Any, folder: Path) -> None:
    made = []
    for seed in ("4", "4", "5"):
        pacas("errors", "d.csv", *FD, "--rate", "0.2", "--side", "both", "--random", "0.1", "--seed", seed, *FILES)
        made.append([(folder / name).read_bytes() for name in ("dirty.csv", "changes.csv")])
    assert made[0] == made[1] != made[2]


def test_check_finds_what_was_put_in(pacas: Any) -> None:
    before = pacas("check", "d.csv", *FD, "--json").document["dependencies"][0]["violations"]
    pacas("errors", "d.csv", *FD, "--rate", "0.1", *FILES)
    assert before == 1
    assert pacas("check", "dirty.csv", *FD, "--json").document["dependencies"][0]["violations"] >= 1 + 10


def test_for_people_it_prints_the_same_and_what_is_short(pacas: Any) -> None:
    lines = pacas("errors", "d.csv", *FD, "--rate", "0.9", "--value", "fresh", *FILES).lines
    assert lines == [
        "kind       errors",
        "rhs_fresh      50",
        "",
        "50 of 103 rows have an error; dirty.csv written.",
        "A -> B:rhs: 93 errors were asked for, and there was a place for 50",
        "A -> B: 1 groups violated it already, and were left alone",
    ]


def test_overwritten_groups_and_what_no_violation_shows_are_said(pacas: Any, folder: Path) -> None:
    result = pacas("errors", "d.csv", *FD, "--overwritten", "1", "--seed", "6", *FILES, "--json").document
    log = records(folder / "changes.csv")
    assert {line["kind"] for line in log} == {"overwritten"}
    blocks = Counter((line["old"], line["new"]) for line in log)
    assert len(blocks) == len({old for old, _ in blocks}) == 10, "one other value a group"
    assert result["short"] == [{"what": "A -> B:overwritten", "asked": 11, "made": 10}], "one group violates it already"
    whole = sum(n == 10 for n in blocks.values())
    assert result["overwritten_whole"] == [{"fd": "A -> B", "groups": whole}] and result["unseen"] == 10 * whole > 0
    said = pacas("errors", "d.csv", *FD, "--overwritten", "1", "--seed", "6", *FILES).lines
    assert "A -> B:overwritten: 11 groups were asked for, and there was a place for 10" in said
    assert (
        f"A -> B: {whole} groups overwritten whole; no violation of it shows that".replace("1 groups", "1 group")
        in said
    )
    assert f"{10 * whole} errors in no violation: no dependency sees them" in said


def test_two_blocks_in_one_row_are_both_written(pacas: Any, folder: Path) -> None:
    pacas("errors", "d.csv", *FD, "--fd", "B -> A", "--overwritten", "1", *FILES)
    clean, dirty, log = (records(folder / name) for name in ("d.csv", "dirty.csv", "changes.csv"))
    assert max(Counter(line["row"] for line in log).values()) == 2
    assert replay(clean, log, "old", "new") == dirty


def test_rates_of_their_own_for_dependencies_and_sides(pacas: Any, folder: Path) -> None:
    result = pacas(
        *("errors", "d.csv", *FD, "--fd", "B -> A", "--rate", "A -> B=0.1", "--rate", "B -> A:lhs=0.05", "--json"),
        *FILES,
    )
    assert result.document["by_kind"]["lhs_domain"] == 5 and result.document["changed"] == 15


def test_a_hierarchy_decides_which_values_clash(pacas: Any, folder: Path) -> None:
    (folder / "m.csv").write_text("A,MED\n" + "1,ibuprofen\n" * 10 + "2,NSAID\n" * 10)
    result = pacas(
        *("errors", "m.csv", "--fd", "A -> MED", "--rate", "0.1", "--value", "domain"),
        *("--hierarchy", "MED=med.csv", *FILES),
    )
    assert result.complaint.startswith("no place for a detectable error of 'A -> MED:rhs'")


def test_repairability_goes_to_a_file_of_its_own(pacas: Any, folder: Path) -> None:
    pacas("errors", "d.csv", *FD, "--rate", "0.1", "--random", "0.1", *FILES, "--repairability", "r.csv")
    lines = records(folder / "r.csv")
    assert list(lines[0]) == ["row", "attribute", "fd", "before", "after", "by_majority"]
    told = [line["row"] for line in records(folder / "changes.csv") if line["kind"].startswith("rhs")]
    assert [line["row"] for line in lines] == told
    assert all(line["fd"] == "A -> B" and line["before"] == "1" for line in lines)
    assert all((float(line["after"]) > 0.5) == (line["by_majority"] == "true") for line in lines)


def test_parquet_and_compressed_files_keep_their_kind(pacas: Any, folder: Path) -> None:
    pq.write_table(pa.table({"A": [1, 1, 1, 2, 2, 2], "B": [10, 10, 10, 20, 20, 20]}), folder / "d.parquet")
    pacas("errors", "d.parquet", *FD, "--rate", "0.2", "--output", "dirty.parquet", "--log", "changes.csv")
    written = pq.read_table(folder / "dirty.parquet")
    (line,) = records(folder / "changes.csv")
    assert written.schema.field("B").type == pa.int64()
    assert written.column("B").to_pylist()[int(line["row"])] == int(line["new"])
    (folder / "d.csv.gz").write_bytes(gzip.compress((folder / "d.csv").read_bytes()))
    pacas("errors", "d.csv.gz", *FD, "--rate", "0.1", "--output", "dirty.csv.gz")
    pacas("errors", "d.csv", *FD, "--rate", "0.1", "--output", "dirty.csv")
    assert gzip.decompress((folder / "dirty.csv.gz").read_bytes()) == (folder / "dirty.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((*FD, "--rate", "2"), "--rate takes a share of the tuples from 0 to 1, such as 0.1, not '2'"),
        ((*FD, "--rate", "abc"), "--rate takes a share of the tuples from 0 to 1, such as 0.1, not 'abc'"),
        ((*FD, "--rate", "nan"), "--rate takes a share of the tuples from 0 to 1, such as 0.1, not 'nan'"),
        ((*FD, "--rate", "-0.1"), "--rate takes a share of the tuples from 0 to 1, such as 0.1, not '-0.1'"),
        (
            (*FD, "--rate", "A -> B=x"),
            "--rate for 'A -> B' takes a share of the tuples from 0 to 1, such as 0.1, not 'x'",
        ),
        (
            (*FD, "--rate", "0.1", "--rate", "0.2"),
            "--rate takes one rate for all, or 'A -> B=0.1' for each; '0.1' stands with others",
        ),
        ((*FD, "--rate", "A -> B=0.1", "--rate", "A -> B=0.1"), "--rate names 'A -> B' twice"),
        (("--rate", "A -> B=0.1"), "a rate for 'A -> B', which is not among the dependencies; there is none"),
        (("--rate", "0.1"), "a rate, and no dependency to break; give at least one, such as 'GEN, DIAG -> MED'"),
        (FD, "no errors to make; give --fd with --rate 0.1 or --overwritten 0.3, or --random 0.1"),
        ((*FD, "--overwritten", "2"), "--overwritten takes a share of the groups from 0 to 1, such as 0.1, not '2'"),
        ((*FD, "--overwritten", "0.01"), "the share of overwritten groups, 0.01, comes to no group at all"),
        (("--overwritten", "0.3"), "groups to overwrite, and no dependency; give at least one"),
        ((*FD, "--random", "x"), "--random takes a share of the tuples from 0 to 1, such as 0.1, not 'x'"),
        ((*FD, "--rate", "0.001"), "the rate, 0.001 of 103 rows, comes to no tuple at all; give a higher one"),
        (("--fd", "A -> W", "--rate", "0.1"), "no column 'W' in d.csv; there is A, B, C"),
        (("--fd", "A, B", "--rate", "0.1"), "expected '->' between the two sides of the dependency"),
        (("--fd", "C -> A", "--rate", "0.1"), "no place for a detectable error of 'C -> A:rhs': 0 groups of several"),
        ((*FD, "--rate", "0.1", "--side", "right"), "no side 'right'; there is rhs, lhs, both"),
        ((*FD, "--rate", "0.1", "--hierarchy", "W=med.csv"), "no column 'W' in d.csv; there is A, B, C"),
        ((*FD, "--rate", "0.1", "--output", "none/d.csv"), "none/d.csv cannot be written: there is no folder none"),
        ((*FD, "--rate", "0.1", "--output", "d.csv"), "d.csv is the table itself"),
        ((*FD, "--rate", "0.1", "--output", "d.xls"), "d.xls: cannot tell what to write"),
        ((*FD, "--rate", "0.1", "--log", "dirty.csv"), "dirty.csv is to hold two things, or is the table itself"),
        ((*FD, "--rate", "0.1", "--log", "d.csv"), "d.csv is to hold two things, or is the table itself"),
        ((*FD, "--rate", "0.1", "--log", "none/l.csv"), "none/l.csv cannot be written: there is no folder none"),
        ((*FD, "--rate", "0.1", "--log", "l", "--repairability", "./l"), "l is to hold two things"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    pacas: Any, folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    output = () if "--output" in arguments else ("--output", "dirty.csv")
    assert pacas("errors", "d.csv", *arguments, *output).complaint.startswith(complaint)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_null_would_be_no_row_where_there_is_one_column(pacas: Any, folder: Path) -> None:
    (folder / "one.csv").write_text("A\n1\n2\n")
    complaint = pacas("errors", "one.csv", "--random", "0.5", "--kind", "null", "--output", "dirty.csv").complaint
    assert complaint == "one.csv has one column, and a row of nothing would be no row; leave out --kind null"
