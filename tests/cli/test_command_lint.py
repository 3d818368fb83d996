"""`pacas lint` and `pacas leak`: a provider's file in, findings and figures out, and never a value."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pacas.cli.opened_provider import opened_with_engine, read_provider
from pacas.cli.provider.serve import warn_of_findings
from pacas.engine.duck.engine import DuckEngine

ROWS = 400
DRUGS = [f"{family}{i}" for family in ("opiate", "statin", "insulin") for i in range(4)]
PROVIDER = """
[relation]
data = "people.csv"
[hierarchies]
DRUG = "drug.csv"
CODE = "code.csv"
[match]
DRUG = "ID = ID"
CODE = "ID = ID"
[[policy]]
x = ["WARD"]
y = ["DRUG"]
k = 3
scope = "row"
allow_linkage = true
[pricing]
quotes = "sealed"
total = 100.0
[ledger]
url = "sqlite:///people.db"
"""
DECLARED = '[[dependency]]\nfd = "CODE -> DRUG"\ndictionary = "pairs.csv"\n'

Write = Callable[..., int]


@pytest.fixture
def write(folder: Path) -> Write:
    """A provider of people in wards, each with a drug and the drug's code."""
    random = Random(1)
    people = [(i, random.randrange(10), random.choice(DRUGS)) for i in range(ROWS)]
    lines = [f"{i},w{ward},{drug},c{DRUGS.index(drug)}" for i, ward, drug in people]
    (folder / "people.csv").write_text("\n".join(["ID,WARD,DRUG,CODE", *lines]) + "\n")
    (folder / "drug.csv").write_text("".join(f"{drug},{drug[:-1]},*\n" for drug in DRUGS))
    (folder / "code.csv").write_text("".join(f"c{i},m{i // 4},*\n" for i in range(len(DRUGS))))
    (folder / "pairs.csv").write_text("CODE,DRUG\n" + "".join(f"c{i},{drug}\n" for i, drug in enumerate(DRUGS)))

    return lambda more="": (folder / "people.toml").write_text(PROVIDER + more)


def test_an_error_ends_with_exit_code_1_and_the_line_that_mends_it(pacas: Any, write: Write) -> None:
    write()
    result = pacas("lint", "people.toml")
    assert result.code == 1
    assert result.lines[0] == "error   told-by: DRUG, 400 people"
    assert result.lines[2:5] == [
        "          [[dependency]]",
        '          fd = "CODE -> DRUG"',
        '          dictionary = "CODE_DRUG.csv"',
    ]
    assert result.lines[-1] == "1 error"
    assert not any(drug in result.out for drug in DRUGS)


def test_what_is_mended_is_not_found_again(pacas: Any, write: Write) -> None:
    write(DECLARED)
    result = pacas("lint", "people.toml")
    assert (result.code, result.lines) == (0, ["nothing to mend"])


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_a_policy_that_is_pasted_is_one(pacas: Any, write: Write, folder: Path, quotes: str) -> None:
    write()
    head, _, rest = PROVIDER.partition("[[policy]]")
    text = head + rest[rest.index("[pricing]") :].replace("sealed", quotes, 1)
    (folder / "people.toml").write_text(text)
    (found,) = [one for one in findings(pacas) if one["rule"] == "unprotected"]
    (folder / "people.toml").write_text(text + found["remedy"])
    assert "unprotected" not in {one["rule"] for one in findings(pacas)}


def test_the_papers_quotes_are_sealed_by_the_line_that_mends_them(pacas: Any, write: Write, folder: Path) -> None:
    write()
    paper = PROVIDER.replace('scope = "row"\n', "").replace('quotes = "sealed"', "seed = 7")
    (folder / "people.toml").write_text(paper)
    (found,) = [one for one in findings(pacas) if one["rule"] == "free-quotes-tell"]
    assert "seed" in found["remedy"]
    (folder / "people.toml").write_text(paper.replace("[pricing]\nseed = 7", found["remedy"]))
    assert "free-quotes-tell" not in {one["rule"] for one in findings(pacas)}


def findings(pacas: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pacas("lint", "people.toml", "--json").document["findings"]
    return found


@pytest.mark.parametrize("command", ["lint", "leak"])
def test_no_ledger_is_made_or_asked_so_that_terms_may_change(
    pacas: Any, write: Write, folder: Path, command: str
) -> None:
    write()
    pacas(command, "people.toml")
    assert not (folder / "people.db").exists()
    (folder / "asked.jsonl").write_text('{"tuple": {"ID": "1"}, "attribute": "DRUG"}\n')
    quote = ("quote", "people.toml", "--requests", "asked.jsonl")
    assert pacas(*quote).code == 0 and (folder / "people.db").exists()
    write(DECLARED)
    assert pacas(*quote).err.endswith("the ledger begins anew\n")
    assert pacas(command, "people.toml").code == 0


def test_the_json_has_the_promised_keys(pacas: Any, write: Write) -> None:
    write()
    result = pacas("lint", "people.toml", "--json")
    assert result.code == 1
    (finding,) = result.document["findings"]
    assert set(finding) == {"rule", "severity", "attribute", "people", "says", "remedy", "estimated", "about"}
    assert (finding["rule"], finding["severity"], finding["people"]) == ("told-by", "error", ROWS)


@pytest.mark.parametrize("share", ["0.4", "1.1", "most"])
def test_a_share_is_one_of_the_people(pacas: Any, write: Write, share: str) -> None:
    write()
    assert "--share" in pacas("lint", "people.toml", "--share", share).complaint


def test_bad_input_is_said_in_one_line(pacas: Any) -> None:
    assert "cannot be read" in pacas("lint", "nobody.toml").complaint
    assert "give its provider.toml, not a URL" in pacas("lint", "https://example.org").complaint


def test_the_audit_has_the_findings_and_the_worst_figure_of_the_meter(pacas: Any, write: Write) -> None:
    write()
    document = pacas("audit", "people.toml", "--json").document
    assert document["leak"] is None
    assert [finding["rule"] for finding in document["findings"]] == ["told-by"]
    lines = pacas("audit", "people.toml").lines
    assert lines[lines.index("to mend, as pacas lint says in full") + 1].endswith("told-by: DRUG, 400 people")


@pytest.fixture
def lopsided(write: Write, folder: Path) -> None:
    """With the paper's quotes, and a frequent drug that is an only child: its price tells it."""
    write()
    people = (folder / "people.csv").read_text()
    (folder / "people.csv").write_text(re.sub(r"opiate\d,c\d", "opiate0,c0", people))
    (folder / "drug.csv").write_text("".join(f"{d},{d if d == 'opiate0' else d[:-1]},*\n" for d in DRUGS))
    text = PROVIDER.replace('quotes = "sealed"', 'quotes = "paper"').replace('scope = "row"\n', "")
    (folder / "people.toml").write_text(text)


def test_the_worst_figure_of_the_meter_is_in_the_audit_of_the_papers_quotes(pacas: Any, lopsided: None) -> None:
    document = pacas("audit", "people.toml", "--json").document
    assert document["leak"]["attribute"] == "DRUG" and document["leak"]["interval"][0] > 0
    assert any("free quotes tell the DRUG of" in line for line in pacas("audit", "people.toml").lines)


def test_where_the_relation_stays_on_the_engine_it_says_what_measures_it(
    pacas: Any, lopsided: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckEngine, "holdable_bytes", property(lambda _: 1_000, lambda _, given: None), raising=False)
    said = "what free quotes tell is not measured beside other work, on the engine; pacas leak people.toml does"
    assert pacas("audit", "people.toml", "--json").document["leak"] is None
    assert f"warning: {said}" in pacas("audit", "people.toml").lines
    assert pacas("leak", "people.toml", "--json").document["attributes"][0]["interval"][0] > 0


def test_it_is_said_before_serving_begins(lopsided: None, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = read_provider("people.toml")
    with opened_with_engine(file) as (provider, engine):
        warn_of_findings(file, provider, engine)
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("pacas: free quotes tell the DRUG of")
    assert "pacas: error: told-by: DRUG" in said
    assert said[-1] == "pacas: pacas lint people.toml says more of these, and what mends them"
    assert not any(drug in line for drug in DRUGS for line in said)


# ---- pacas leak ------------------------------------------------------------------------------------------------------


def test_sealed_quotes_tell_zero_and_why_and_a_declared_dependency_breaks_no_group(pacas: Any, write: Write) -> None:
    write(DECLARED)
    result = pacas("leak", "people.toml", "--json")
    assert result.code == 0
    document = result.document
    assert [one["attribute"] for one in document["attributes"]] == ["DRUG", "CODE"]
    assert all(one["leak"] == 0 and one["interval"] == [0, 0] for one in document["attributes"])
    assert set(document["attributes"][0]) == {
        "attribute",
        "level",
        "leak",
        "interval",
        "public_guess",
        "ladders",
        "why",
    }
    assert (document["quotes"], document["rows"]) == ("sealed", ROWS)
    assert "nothing" in document["why"]
    assert {one["why"] for one in document["attributes"]} == {"everybody has the same ladder"}
    (dependency,) = document["dependencies"]
    assert (dependency["fd"], dependency["declared"], dependency["broken_groups"]) == ("CODE -> DRUG", True, 0)


def test_an_undeclared_dependency_breaks_what_the_policy_protects(pacas: Any, write: Write) -> None:
    """Each person is protected alone, and everybody's code is for sale."""
    write()
    result = pacas("leak", "people.toml", "--json")
    (dependency,) = result.document["dependencies"]
    assert (dependency["declared"], dependency["broken_groups"], dependency["groups"]) == (False, ROWS, ROWS)
    assert dependency["public_guess"] + dependency["leak"] > 0.99
    lines = pacas("leak", "people.toml").lines
    assert any("CODE -> DRUG" in line and "400 of 400" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_a_picture_is_drawn_as_its_name_says(pacas: Any, write: Write, folder: Path, kind: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    write()
    result = pacas("leak", "people.toml", "--picture", f"leak.{kind}", "--json")
    assert result.document["picture"] == f"leak.{kind}"
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "html": b"<!doctype html>"}[kind]
    drawn = (folder / f"leak.{kind}").read_bytes()
    assert drawn.startswith(begin)
    if kind == "html":
        page = drawn.decode()
        assert "400 of 400 X-groups short" in page and not any(drug in page for drug in DRUGS)


def test_a_picture_of_no_known_kind_is_refused_before_anything_is_measured(pacas: Any) -> None:
    complaint = pacas("leak", "nobody.toml", "--picture", "leak.gif").complaint
    assert "a picture is an SVG, a PNG or a page of HTML" in complaint


def test_of_things_the_linter_counts_rows(pacas: Any, write: Write, folder: Path) -> None:
    write('[service]\npublish_dependencies = ["CODE -> DRUG"]\n')
    by_people = (folder / "people.toml").read_text()
    assert " people" in pacas("lint", "people.toml").out
    unprotected = re.sub(r"\[\[policy\]\].*(?=\[pricing\])", "", by_people, flags=re.DOTALL)
    of_things = unprotected.replace('data = "people.csv"', 'data = "people.csv"\nabout = "things"')
    (folder / "people.toml").write_text(of_things.replace('quotes = "sealed"', 'quotes = "paper"'))
    told = pacas("lint", "people.toml").out.replace('about = "people"', "")
    assert "400 rows" in told and not re.search("people|person", told), told
