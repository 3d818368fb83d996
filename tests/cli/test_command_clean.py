"""`pacas clean`."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.errors import FileError, StorageError
from pacas.provider.ledger.chain import Total
from pacas.storage.sqlite.ledger import SqliteLedger

CLEAN = ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--strategy", "paper")


def totals(folder: Path) -> dict[str, Total]:
    if not (folder / "provider.ledger.db").exists():
        return {}
    ledger = SqliteLedger(folder / "provider.ledger.db")
    found = ledger.totals()
    ledger.close()
    return found


def medicines(path: Path) -> list[str]:
    return [line.replace('"', "").split(",")[-1] for line in path.read_text().splitlines()[1:]]


def client(folder: Path, text: str = "", data: str = "client.csv", fds: str = '["GEN, DIAG -> MED"]') -> None:
    (folder / "client.toml").write_text(f'data = "{data}"\nfds = {fds}\n{text}\n[hierarchies]\nMED = "med.csv"\n')


TO_LOOK_AT = [
    (2, "addaprin", "ibuprofen", "own_quotes"),
    (4, "tylenol", "naproxen", "own_quotes"),
]


def test_the_json_has_the_promised_shape(pacas: Any, folder: Path) -> None:
    result = pacas(*CLEAN, "--output", "out.csv", "--json")
    assert result.code == 0
    assert result.document == {
        "budget": 2.0,
        "spent": 1.4,
        "violations_before": 4,
        "violations_after": 0,
        "rounds": 1,
        "purchases": [
            {
                "attribute": "MED",
                "rows": [0, 1, 2],
                "level": 1,
                "value": "NSAID",
                "price": 0.7,
                "written": "ibuprofen",
            },
            {"attribute": "MED", "rows": [3, 4], "level": 1, "value": "NSAID", "price": 0.7, "written": "naproxen"},
        ],
        "unrepaired": [],
        "repair_error": None,
        "score": None,
        "hindsight": None,
        "explanation": None,
        "credit": None,
        "to_look_at": [
            {
                "row": row,
                "attribute": "MED",
                "old": old,
                "new": new,
                "guess": new,
                "look": look,
                "sure": None,
            }
            for row, old, new, look in TO_LOOK_AT
        ],
        "dry_run": False,
        "output": "out.csv",
        "journal": "out.csv.journal",
        "report": None,
    }
    assert medicines(folder / "out.csv")[:5] == ["ibuprofen"] * 3 + ["naproxen"] * 2
    assert totals(folder) == {"local": Total(2, 1_400_000_000)}


def test_for_people_it_prints_a_summary(pacas: Any, folder: Path) -> None:
    (folder / "client.toml").write_text('data = "client.csv"\nfds = ["GEN, DIAG -> MED", "AGE -> DIAG"]\n')
    assert pacas(*CLEAN, "--as", "ann").lines == [
        "violations  5 → 1",
        "spent       1.4 of 2 credits",
        "repaired    2 classes, 3 cells changed",
        "unrepaired  1 class",
        "to look at  2 cells changed whose class or value is doubtful; --changes lists them",
        "",
        "attribute  level  classes  cells changed  spent",
        "MED            1        2              3    1.4",
        "",
        "unrepaired  reason    classes  cells",
        "DIAG        not_sold        1      2",
        "",
        "client.clean.csv written; client.clean.csv.journal is the record of what was bought.",
    ]
    assert list(totals(folder)) == ["ann"]


def test_without_output_the_table_is_written_beside_the_data(pacas: Any, folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "client.csv").rename(folder / "data" / "client.csv")
    client(folder, data="data/client.csv")
    assert pacas(*CLEAN, "--json").document["output"] == "data/client.clean.csv"
    assert (folder / "data" / "client.clean.csv.journal").exists()


# ---- dry runs -----------------------------------------------------------------------------------------------------


def test_a_dry_run_pays_nothing_and_writes_nothing(pacas: Any, folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    result = pacas(*CLEAN, "--dry-run")
    assert result.lines == [
        "attribute  level  price  cells  rows",
        "MED            1    0.7      3  0, 1, 2",
        "MED            1    0.7      2  3, 4",
        "",
        "It would repair 2 classes for about 1.4 of 2 credits.",
        "Nothing was paid. Prices are those of now; with each purchase later ones may fall, or be refused.",
    ]
    assert totals(folder) == {}
    assert {path.name for path in folder.iterdir()} - before == {"provider.ledger.db"}


def test_a_dry_run_knows_no_values(pacas: Any) -> None:
    found = pacas(*CLEAN, "--dry-run", "--json").document
    assert found["dry_run"] is True
    assert [(p["level"], p["value"], p["written"], p["price"]) for p in found["purchases"]] == [
        (1, None, None, 0.7)
    ] * 2
    assert not {"output", "journal", "report"} & set(found)


# ---- what is bought and written -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ((), ["ibuprofen"] * 3 + ["naproxen"] * 2),
        (("--repair", "replace"), ["NSAID"] * 5),
        (("--repair", "replace", "--prefer", "coarsest"), ["analgesic"] * 5),
        (("--repair", "replace", "--prefer", "coarsest", "--max-level", "1"), ["NSAID"] * 5),
        (("--repair", "replace", "--prefer", "coarsest", "--max-level", "MED=1"), ["NSAID"] * 5),
        (("--max-level", "0"), ["ibuprofen", "intropes", "addaprin", "naproxen", "tylenol"]),
        (("--budget", "0"), ["ibuprofen", "intropes", "addaprin", "naproxen", "tylenol"]),
    ],
)
def test_options_decide_what_is_written(pacas: Any, folder: Path, options: tuple[str, ...], written: list[str]) -> None:
    assert pacas(*CLEAN, *options).code == 0
    assert medicines(folder / "client.clean.csv")[:5] == written


def test_cells_of_another_detector_are_repaired_too(pacas: Any, folder: Path) -> None:
    (folder / "cells.csv").write_text("row,attribute\n5,MED\n")
    found = pacas(*CLEAN, "--cells", "cells.csv", "--json").document
    assert [5] in [p["rows"] for p in found["purchases"]] or [5] in [u["rows"] for u in found["unrepaired"]]


def test_the_truth_gives_a_repair_error(pacas: Any, folder: Path) -> None:
    right = pacas(*CLEAN, "--json").document
    assert right["repair_error"] is None
    again = pacas(*CLEAN, "--resume", "--truth", "client.clean.csv", "--json").document
    assert again["repair_error"] == 0
    assert pacas(*CLEAN, "--resume", "--truth", "client.csv", "--json").document["repair_error"] > 0


def test_the_truth_gives_a_score(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text()
    (folder / "truth.csv").write_text(text.replace("intropes", "ibuprofen").replace("addaprin", "ibuprofen"))
    result = pacas(*CLEAN, "--truth", "truth.csv")
    start = result.lines.index("MED            1        2              3    1.4") + 2
    assert result.lines[start:-2] == [
        "against the truth   repair error  wrong cells  precision  recall     F1",
        "MED                5.123 → 3.224        2 → 1      0.667   1.000  0.800",
        "",
        "repairs by level  level 0  level 1  level 2  level 3",
        "MED                100.0%     0.0%     0.0%     0.0%",
        "",
        "repairs by distance  0 – ¼  ¼ – ½  ½ – ¾  ¾ – 1",
        "MED                  66.7%   0.0%   0.0%  33.3%",
    ]
    found = pacas(*CLEAN, "--resume", "--truth", "truth.csv", "--json").document
    score = found["score"]
    assert found["repair_error"] == score["repair_error"] == pytest.approx(3.224, abs=0.001)
    assert (score["wrong"], score["wrong_after"], score["changed"], score["correct"]) == (2, 1, 3, 2)
    assert list(score["attributes"]) == ["MED"]


def test_a_score_with_nothing_wrong_and_nothing_changed_is_a_line(pacas: Any) -> None:
    lines = pacas(*CLEAN, "--budget", "0", "--truth", "client.csv").lines
    assert "in total           0.000 → 0.000        0 → 0          –       –   –" in lines
    assert not any(line.startswith("repairs by") for line in lines)


# ---- why, and the report ------------------------------------------------------------------------------------------


def test_a_cell_is_explained(pacas: Any) -> None:
    lines = pacas(*CLEAN, "--explain", "4", "MED").lines
    start = lines.index("row 4, MED: 'tylenol' was given, 'naproxen' stands there now")
    assert lines[start + 1] == "class: 2 cells that must agree, rows 3, 4"
    assert lines[-3].startswith("look at it: this row's own quotes were others")


def test_a_run_that_is_done_can_be_explained_for_nothing(pacas: Any, folder: Path) -> None:
    assert pacas(*CLEAN, "--json").document["explanation"] is None
    found = pacas(*CLEAN, "--resume", "--explain", "1", "MED", "--json").document["explanation"]
    assert (found["row"], found["given"], found["value"]) == (1, "intropes", "ibuprofen")
    assert found["steps"][0]["purchase"] == {"row": 1, "level": 1, "value": "NSAID", "price": 0.7}
    assert totals(folder) == {"local": Total(2, 1_400_000_000)}


def test_a_report_is_written(pacas: Any, folder: Path) -> None:
    result = pacas(*CLEAN, "--report", "report.html")
    assert result.lines[-1] == "report.html written; open it in a browser."
    page = (folder / "report.html").read_text("utf-8")
    assert "What was cleaned: client.csv" in page and "Against the truth" not in page
    found = pacas(*CLEAN, "--resume", "--truth", "client.csv", "--report", "report.html", "--json").document
    assert found["report"] == "report.html"
    assert "Against the truth" in (folder / "report.html").read_text("utf-8")


def test_the_terminal_and_the_report_count_the_same_cells_to_look_at(pacas: Any, folder: Path) -> None:
    """Row 4 is the one asked about, and was given the value of row 3, whose own quotes were others."""
    lines = pacas(*CLEAN, "--budget", "0.9", "--explain", "4", "MED", "--report", "r.html").lines
    assert "to look at  2 cells changed whose class or value is doubtful; --changes lists them" in lines
    assert any(line.startswith("look at it: the value stood only in rows whose quotes") for line in lines)
    page = (folder / "r.html").read_text("utf-8")
    assert "To be looked at</dt><dd>2<small>cells whose class or value is doubtful" in page


def test_every_change_is_listed_with_why_its_price_and_whether_to_look_at_it(pacas: Any, folder: Path) -> None:
    found = pacas(*CLEAN, "--changes", "changes.csv", "--key", "ID", "--json").document
    assert found["changes"] == "changes.csv"
    with (folder / "changes.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [list(line.values())[:7] for line in lines] == [
        ["1", "t2", "MED", "intropes", "ibuprofen", "evidence", "0.7"],
        ["2", "t3", "MED", "addaprin", "ibuprofen", "evidence", "0.7"],
        ["4", "t5", "MED", "tylenol", "naproxen", "evidence", "0.7"],
    ]
    looked_at = {(c["row"], c["attribute"]): c["look"] for c in found["to_look_at"]}
    assert {(int(line["row"]), line["attribute"]): line["look"] for line in lines if line["look"]} == looked_at
    with (folder / "client.csv").open(newline="") as before, (folder / "client.clean.csv").open(newline="") as after:
        cells = {
            (str(row), name, old[name], new[name])
            for row, (old, new) in enumerate(zip(csv.DictReader(before), csv.DictReader(after), strict=True))
            for name in old
            if old[name] != new[name]
        }
    assert {(line["row"], line["attribute"], line["old"], line["new"]) for line in lines} == cells


def test_a_report_that_fails_after_all_is_paid_says_how_to_get_it(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise FileError("report.html cannot be written (no space)")

    with monkeypatch.context() as patched:
        patched.setattr("pacas.cli.clean.review.write_report", full)
        said = pacas(*CLEAN, "--report", "report.html").complaint
    assert said.endswith("(no space); the table is in client.clean.csv: with --resume the report costs nothing")
    assert pacas(*CLEAN, "--report", "report.html", "--resume").code == 0
    assert (folder / "report.html").exists()
    assert totals(folder) == {"local": Total(2, 1_400_000_000)}


def test_a_provider_that_refuses_everything_is_no_error(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(text.replace("male", "m").replace("fem", "fe"))
    found = pacas(*CLEAN, "--json")
    assert found.code == 0
    assert found.document["purchases"] == [] and found.document["spent"] == 0
    assert [left["reason"] for left in found.document["unrepaired"]] == ["no_match", "no_match"]
    assert found.document["violations_after"] == found.document["violations_before"] == 4


# ---- the output ---------------------------------------------------------------------------------------------------


def test_what_is_not_repaired_stays_byte_for_byte(pacas: Any, folder: Path) -> None:
    lines = [
        '\ufeffID;GEN;AGE;DIAG;MED;"a ""note"""',
        "t1;male;51;ost;ibuprofen;' x'",
        't2;male;79;ost;"intropes";"a;b\nc"',
    ]
    content = "\r\n".join([*lines, "", "t3;female;32;flu;naproxen;", ""])
    (folder / "d.csv").write_bytes(content.encode())
    client(folder, data="d.csv")
    assert pacas(*CLEAN, "--output", "out.csv").code == 0
    assert (folder / "out.csv").read_bytes().decode() == content.replace("intropes", "ibuprofen")


def test_a_text_that_is_written_anew_keeps_its_delimiter(pacas: Any, folder: Path) -> None:
    lines = ["ID|GEN|AGE|DIAG|MED|NOTE", 't1|male|51|ost|ibuprofen|5" pipe', "t2|male|79|ost|intropes|a,b"]
    (folder / "d.csv").write_text("\n".join([*lines, "t3|female|32|flu|naproxen|", ""]))
    client(folder, data="d.csv")
    assert pacas(*CLEAN, "--output", "out.csv").code == 0
    assert (folder / "out.csv").read_text().splitlines() == [
        "ID|GEN|AGE|DIAG|MED|NOTE",
        't1|male|51|ost|ibuprofen|"5"" pipe"',
        "t2|male|79|ost|ibuprofen|a,b",
        "t3|female|32|flu|naproxen|",
    ]
    assert pacas(*CLEAN, "--output", "out.tsv").code == 0
    assert (folder / "out.tsv").read_text().splitlines()[2] == "t2\tmale\t79\tost\tibuprofen\ta,b"


def test_compressed_texts_stay_compressed(pacas: Any, folder: Path) -> None:
    (folder / "c.tsv.gz").write_bytes(gzip.compress((folder / "client.csv").read_bytes().replace(b",", b"\t")))
    client(folder, data="c.tsv.gz")
    assert pacas(*CLEAN).code == 0
    assert b"ibuprofen" in gzip.decompress((folder / "c.clean.tsv.gz").read_bytes()).splitlines()[2]


def test_parquet_keeps_its_types(pacas: Any, folder: Path) -> None:
    rows = [line.replace('"', "").split(",") for line in (folder / "client.csv").read_text().splitlines()]
    columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
    table = pa.table({**columns, "AGE": [int(age) for age in columns["AGE"]]})
    pq.write_table(table, folder / "c.parquet")
    client(folder, data="c.parquet")
    assert pacas(*CLEAN).code == 0
    written = pq.read_table(folder / "c.clean.parquet")
    assert written.schema == table.schema
    assert written.column("MED").to_pylist()[:3] == ["ibuprofen"] * 3
    assert written.drop_columns("MED") == table.drop_columns("MED")


def test_another_kind_can_be_asked_for(pacas: Any, folder: Path) -> None:
    assert pacas(*CLEAN, "--output", "out.parquet").code == 0
    assert pq.read_table(folder / "out.parquet").column("MED").to_pylist()[:3] == ["ibuprofen"] * 3


# ---- the journal --------------------------------------------------------------------------------------------------


def test_a_run_that_is_done_is_not_bought_again_but_written_again(pacas: Any, folder: Path) -> None:
    first = pacas(*CLEAN, "--json").document
    (folder / "client.clean.csv").unlink()
    assert pacas(*CLEAN, "--resume", "--json").document == first
    assert medicines(folder / "client.clean.csv")[:3] == ["ibuprofen"] * 3
    assert pacas(*CLEAN, "--resume").lines[-1] == "That run was done already; nothing was bought now."
    assert totals(folder) == {"local": Total(2, 1_400_000_000)}


def test_a_new_run_replaces_the_journal_of_one_that_is_done(pacas: Any) -> None:
    pacas(*CLEAN)
    assert pacas(*CLEAN, "--repair", "replace", "--json").document["spent"] == 0, "the same buyer has it already"


@pytest.mark.parametrize("cells", ["999,MED", "1,MEDS"])
def test_a_new_run_that_fails_leaves_the_journal_of_one_that_is_done(pacas: Any, folder: Path, cells: str) -> None:
    first = pacas(*CLEAN, "--json").document
    record = (folder / "client.clean.csv.journal").read_bytes()
    (folder / "cells.csv").write_text(f"row,attribute\n{cells}\n")
    assert "no " in pacas(*CLEAN, "--cells", "cells.csv").complaint
    assert (folder / "client.clean.csv.journal").read_bytes() == record
    assert pacas(*CLEAN, "--resume", "--json").document == first


def test_ctrl_c_before_anything_is_ordered_leaves_that_journal_too(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pacas(*CLEAN)
    record = (folder / "client.clean.csv.journal").read_bytes()

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pacas.client.paper.paper_strategy.generate_eqs", interrupted)
        result = pacas(*CLEAN, "--repair", "replace")
    assert (result.code, result.err) == (130, ""), "this run has nothing to be continued"
    assert (folder / "client.clean.csv.journal").read_bytes() == record


def test_a_journal_that_lost_lines_says_to_begin_anew(pacas: Any, folder: Path) -> None:
    pacas(*CLEAN)
    journal = folder / "client.clean.csv.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
    said = pacas(*CLEAN, "--resume").complaint
    assert said.endswith(
        "; remove client.clean.csv.journal and begin anew: what was bought costs this buyer nothing again"
    )
    journal.unlink()
    assert pacas(*CLEAN, "--json").document["spent"] == 0
    assert totals(folder)["local"].spent == 1_400_000_000


def test_resuming_nothing_is_a_new_run_and_says_so(pacas: Any) -> None:
    result = pacas(*CLEAN, "--resume")
    assert (result.code, result.err) == (
        0,
        "pacas: there is no journal client.clean.csv.journal to continue; this is a new run\n",
    )
    assert pacas(*CLEAN, "--resume").err == ""


def test_a_hierarchy_without_what_may_be_bought_is_told_of(pacas: Any, folder: Path) -> None:
    own = (folder / "med.csv").read_text().replace("NSAID", "painkiller")
    (folder / "own.csv").write_text(own)
    (folder / "client.toml").write_text(
        'data = "client.csv"\nfds = ["GEN, DIAG -> MED"]\n[hierarchies]\nMED = "own.csv"\n'
    )
    for more in ((), ("--dry-run",)):
        result = pacas(*CLEAN, *more)
        assert result.code == 0
        assert result.err == (
            "pacas: your hierarchy of MED lacks 1 of the provider's 11 values that may be bought; where one of them is "
            "bought, no value of yours fits it\n"
        )
    assert pacas(*CLEAN, "--max-level", "0").err == "", "no NSAID is bought then"


def test_counts_of_one_are_in_the_singular(pacas: Any, folder: Path) -> None:
    table = (folder / "client.csv").read_text().splitlines()
    (folder / "client.csv").write_text("\n".join([table[0], *table[4:6]]) + "\n")
    assert "1 credits" not in (dry := pacas(*CLEAN, "--budget", "1", "--dry-run").out)
    assert "It would repair 1 class for about 0.7 of 1 credit." in dry
    lines = pacas(*CLEAN, "--budget", "1", "--report", "r.html").lines
    assert lines[1:5] == [
        "spent       0.7 of 1 credit",
        "repaired    1 class, 1 cell changed",
        "unrepaired  0 classes",
        "to look at  1 cell changed whose class or value is doubtful; --changes lists them",
    ]
    page = (folder / "r.html").read_text("utf-8")
    assert ">1 class repaired<" in page and ">of 1 credit<" in page and ">1 violation<" in page
    assert ">a cell whose class or value is doubtful<" in page


def test_a_fault_says_how_to_go_on_and_the_rest_is_bought(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SqliteLedger.append

    def full_after_the_first(ledger: SqliteLedger, purchase: Any, **how: Any) -> Any:
        if ledger.head().entries == 2:
            raise StorageError("the disk is full")
        return append(ledger, purchase, **how)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteLedger, "append", full_after_the_first)
        said = pacas(*CLEAN).complaint
    assert said == "the disk is full; what was bought is in client.clean.csv.journal: continue with --resume"
    assert not (folder / "client.clean.csv").exists()
    said = pacas(*CLEAN).complaint
    assert said.startswith("client.clean.csv.journal is of a run that was interrupted; continue it with --resume, or")
    said = pacas(
        "clean", "client.toml", "--provider", "provider.toml", "--budget=3", "--strategy=paper", "--resume"
    ).complaint
    assert said.startswith("client.clean.csv.journal is of another run: budget differs; ")
    (folder / "client.csv").write_text((folder / "client.csv").read_text() + "t9,male,50,flu,dolex\n")
    assert "is of another run: data, repair differ; " in pacas(*CLEAN, "--resume", "--repair", "ground").complaint
    text = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(text.removesuffix("t9,male,50,flu,dolex\n"))
    assert pacas(*CLEAN, "--resume", "--json").document["spent"] == 1.4
    assert totals(folder) == {"local": Total(2, 1_400_000_000)}


def test_ctrl_c_says_how_to_go_on(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(SqliteLedger, "append", interrupted)
        result = pacas(*CLEAN)
    assert (result.code, result.out) == (130, "")
    assert result.err == "pacas: what was bought is in client.clean.csv.journal: continue with --resume\n"
    assert pacas(*CLEAN, "--resume", "--json").document["spent"] == 1.4


def test_a_mistake_that_is_found_before_anything_is_paid_leaves_no_journal(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(text.replace("AGE", "YEARS"))
    assert "finds 'MED' by a column 'AGE' that client.csv does not have" in pacas(*CLEAN).complaint
    assert not list(folder.glob("*.journal"))


def test_a_column_of_a_near_name_is_suggested(pacas: Any, folder: Path) -> None:
    text = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(text.replace("GEN", "Sex"))
    toml = (folder / "client.toml").read_text().replace("GEN, DIAG", "Sex, DIAG")
    (folder / "client.toml").write_text(toml)
    said = pacas(*CLEAN).complaint
    assert said.endswith("""if that is 'Sex', say so in client.toml: [columns] with Sex = "GEN\"""")
    (folder / "client.toml").write_text(toml + '\n[columns]\nSex = "GEN"\n')
    assert pacas(*CLEAN, "--json").document["spent"] == 1.4


@pytest.mark.parametrize("name", ["Med", "Medication"])
def test_an_attribute_that_is_sold_by_a_near_name_is_suggested(pacas: Any, folder: Path, name: str) -> None:
    text = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(text.replace("MED", name))
    toml = f'data = "client.csv"\nfds = ["GEN, DIAG -> {name}"]\n'
    (folder / "client.toml").write_text(toml)
    said = (
        f"""{name!r} is not for sale; if that is the provider's 'MED', say so in client.toml: [columns] with {name} ="""
    )
    assert said in pacas(*CLEAN, "--dry-run").err
    (folder / "client.toml").write_text(f'{toml}[columns]\n{name} = "MED"\n')
    mapped = pacas(*CLEAN, "--json")
    assert mapped.document["spent"] == 1.4 and "not for sale" not in mapped.err


def test_no_match_says_how_many_would_match_normalized_and_then_they_do(pacas: Any, folder: Path) -> None:
    dirty = (folder / "client.csv").read_text()
    (folder / "client.csv").write_text(
        dirty.replace("female", "Female").replace('"male', '"MALE').replace('"51"', '"51.0"')
    )
    told = pacas(*CLEAN, "--dry-run", "--json").document
    assert told["would_match"] == [{"attribute": "MED", "found": 4, "tried": 5}] and told["purchases"] == []
    said = pacas(*CLEAN, "--dry-run").err
    assert said == (
        "pacas: MED: no_match: at least 4 of 5 tried would match if the provider's match were normalized "
        "(GEN 'MALE' as 'male', AGE '51.0' as '51'); it says so with ~ … normalized\n"
    )
    toml = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(
        toml.replace('"GEN = GEN, AGE = AGE"', '"GEN ~ GEN normalized, AGE ~ AGE normalized"')
    )
    told = json.loads(pacas(*CLEAN, "--json").out)
    assert told["spent"] == 1.4 and "would_match" not in told


# ---- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget", "-1"), "--budget must not be negative"),
        (("--budget", "much"), "--budget must be a number of credits"),
        (("--budget", "nan"), "--budget must be a finite number"),
        (("--repair", "refne"), "no way to repair 'refne'; did you mean 'refine'?"),
        (("--allocation", "error"), "no allocation 'error'; did you mean 'errors'?"),
        (("--prefer", "fine"), "no preference 'fine'; did you mean 'finest'?"),
        (("--max-level", "-1"), "--max-level takes a level from 0 (ground) on"),
        (("--max-level", "MEDS=1"), "nothing repairs 'MEDS'; did you mean 'MED'?"),
        (("--max-level", "MED=1", "--max-level", "MED=2"), "--max-level names 'MED' twice"),
        (("--max-level", "MED=1", "--max-level", "2"), "--max-level takes one level for all, or ATTR=LEVEL"),
        (("--output", "no/out.csv"), "there is no folder no"),
        (("--output", "client.csv"), "client.csv is the table itself"),
        (("--output", "out"), "out: cannot tell what to write"),
        (("--output", "sp.csv/out.csv"), "out.csv cannot be written"),
        (("--cells", "med.csv"), "no column 'attribute' in med.csv"),
        (("--truth", "sp.csv"), "--truth: sp.csv has 6 rows and client.csv has 8"),
        (("--truth", "none.csv"), "none.csv does not exist"),
        (("--report", "no/report.html"), "there is no folder no"),
        (("--report", "client.csv"), "client.csv: a report is a page of HTML"),
        (("--report", "."), "a report is a page of HTML"),
        (("--explain", "8", "MED"), "--explain: no row 8 in client.csv; its rows are 0 to 7"),
        (("--explain", "-1", "MED"), "no row is '-1'"),
        (("--explain", "MED", "4"), "no row is 'MED'"),
        (("--explain", "4", "MEDS"), "no column 'MEDS' in client.csv; did you mean 'MED'?"),
        (("--explain", "4"), "--explain"),
        (
            ("--explain", "4", "MED", "--dry-run"),
            "--explain tells why a value was written, and a dry run writes nothing",
        ),
        (("--report", "report.html", "--dry-run"), "--report tells what was written, and a dry run writes nothing"),
        (("--truth", "client.csv", "--dry-run"), "--truth scores what was written, and a dry run writes nothing"),
        (("--provider", "http://example.org"), "give its https:// address"),
        (("--provider", "https://127.0.0.1:1", "--as", "ann"), "--as is for a provider's file"),
        (("--receipts", "receipts"), "--receipts goes with a provider at a URL"),
        (("--provider", "none.toml"), "none.toml cannot be read"),
        (("--as", ""), "buyer"),
    ],
)
def test_bad_options_cost_nothing(pacas: Any, folder: Path, options: tuple[str, ...], said: str) -> None:
    assert said in pacas(*CLEAN, *options).complaint
    assert totals(folder) == {}
    assert not list(folder.glob("*.journal"))


@pytest.mark.parametrize("options", [(), ("--truth", "truth.csv"), ("--cells", "cells.csv")])
def test_the_output_takes_the_place_of_no_file_that_is_read(pacas: Any, folder: Path, options: tuple[str, ...]) -> None:
    (folder / "truth.csv").write_text((folder / "client.csv").read_text())
    (folder / "cells.csv").write_text("row,attribute\n5,MED\n")
    output = folder / (options[1] if options else "med.csv")
    before = output.read_text()
    said = f"{output.name} is read by this run; give another --output, and it stays as it is"
    assert pacas(*CLEAN, *options, "--output", output.name).complaint == said
    assert output.read_text() == before
    assert totals(folder) == {}


PROVIDER = """\
[relation]
data = "sp.csv"
[relations.more]
data = "more.csv"
[hierarchies]
MED = "tree.csv"
[match]
MED = "GEN = GEN, AGE = AGE"
[pricing]
support = { file = "support.csv" }
[ledger]
url = "sqlite:///ledger.csv"
[service]
signing_key = "key.csv"
"""


@pytest.mark.parametrize("name", ["sp.csv", "more.csv", "tree.csv", "support.csv", "ledger.csv", "key.csv", "link.csv"])
def test_the_output_takes_the_place_of_no_file_of_the_provider(pacas: Any, folder: Path, name: str) -> None:
    (folder / "provider.toml").write_text(PROVIDER)
    for file in ("more.csv", "tree.csv", "support.csv"):  # the ledger and the key are made where they are not there
        (folder / file).write_text("as it was\n")
    (folder / "link.csv").symlink_to("sp.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = f"{name} is read by this run; give another --output, and it stays as it is"
    assert pacas(*CLEAN, "--output", name).complaint == said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_fd_with_a_column_that_is_not_there(pacas: Any, folder: Path) -> None:
    client(folder, fds='["GEN, DIAGS -> MED"]')
    assert pacas(*CLEAN).complaint == "fds: no column 'DIAGS' in client.csv; did you mean 'DIAG'?"
    client(folder, fds='["GEN, DIAG -> MEDS"]')
    assert pacas(*CLEAN).complaint == "fds: no column 'MEDS' in client.csv; did you mean 'MED'?"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("row,attribute\nx,MED\n", "cells.csv, cell 1: a row is a number from 0 on, not 'x'"),
        ("row,attribute\n1,\n", "cells.csv, cell 1: the attribute is missing"),
        ("row,attribute\n99,MED\n", "no row 99"),
        ("row,attribute\n1,MEDS\n", "no column 'MEDS'"),
    ],
)
def test_bad_cells(pacas: Any, folder: Path, cells: str, said: str) -> None:
    (folder / "cells.csv").write_text(cells)
    assert said in pacas(*CLEAN, "--cells", "cells.csv").complaint
    assert totals(folder) == {}


def test_a_file_in_the_journals_place_that_is_none_is_left_alone(pacas: Any, folder: Path) -> None:
    (folder / "client.clean.csv.journal").write_text("dear diary")
    assert "is there and is not a journal of pacas clean" in pacas(*CLEAN).complaint
    assert (folder / "client.clean.csv.journal").read_text() == "dear diary"


def test_the_journal_is_lines_of_json(pacas: Any, folder: Path) -> None:
    pacas(*CLEAN)
    lines = [json.loads(line) for line in (folder / "client.clean.csv.journal").read_text().splitlines()]
    assert [next(iter(line)) for line in lines] == ["journal", "ordering", "ordering", "settled", "settled", "done"]
