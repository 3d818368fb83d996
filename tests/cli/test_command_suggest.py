"""`pacas suggest hierarchies`, `columns` and `policy`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import pacas as front


@pytest.fixture(autouse=True)
def people(folder: Path) -> None:
    """People with an age, a country, a city in a county, and a job."""
    countries = ["France", "Germany", "Japan", "China", "Mexico", "Canada", "Kenya", "Ghana"]
    lines = ["id,age,country,job,city,county"]
    for i in range(240):
        city, county, job = "abcdefghijkl"[i % 12], "ABC"[i % 12 // 4], "vwxyz"[i % 5]
        lines.append(f"p{i},{20 + i * 7 % 61},{countries[i % 8]},job {job},city {city},county {county}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")


HIERARCHIES = ("suggest", "hierarchies", "people.csv")


def test_hierarchies_are_told_in_json(pacas: Any) -> None:
    document = pacas(*HIERARCHIES, "--json").document
    assert document["rows"] == document["of"] == 240
    found = {one["attribute"]: one for one in document["hierarchies"]}
    assert found["age"]["options"]["build"] == "intervals"
    assert found["country"]["how"] == "countries by region and continent" and found["country"]["options"] is None
    assert found["city"]["how"].startswith("columns county")
    assert found["job"]["height"] == 1
    assert set(found["age"]["levels"][0]) == {"level", "labels", "smallest", "median", "largest", "rows_below"}
    assert document["none"] == [{"attribute": "id", "why": "a key: it tells nearly every row apart"}]


def test_given_dependencies_take_the_place_of_those_found(pacas: Any) -> None:
    document = pacas(*HIERARCHIES, "-a", "city", "--fd", "age -> job", "--json").document
    assert [(one["attribute"], one["height"]) for one in document["hierarchies"]] == [("city", 1)]


def test_files_are_written_once_and_read_back(pacas: Any, folder: Path) -> None:
    toml = tomllib.loads(pacas(*HIERARCHIES, "--output", "trees", "--k", "3", "--toml").out)
    assert toml["hierarchies"] == {name: f"trees/{name}.csv" for name in ("age", "country", "city")}
    tree = front.read_hierarchy(folder / "trees" / "city.csv")
    assert tree.height == 2 and len(tree.ground_labels) == 12
    before = (folder / "trees" / "city.csv").read_bytes()
    complaint = pacas(*HIERARCHIES, "--output", "trees").complaint
    assert "is there already, and nothing is written over it" in complaint
    assert (folder / "trees" / "city.csv").read_bytes() == before


def test_the_section_names_builders_where_they_make_the_same(pacas: Any) -> None:
    text = pacas(*HIERARCHIES, "--toml").out
    assert list(tomllib.loads(text)["hierarchies"]) == ["age"]
    assert "# job stays flat" in text and "# city: columns county" in text


def test_hierarchies_are_told_to_people(pacas: Any) -> None:
    text = "\n".join(pacas(*HIERARCHIES).lines)
    assert "age: intervals of width" in text
    assert "flat: job (5 values)" in text
    assert "id: none, a key" in text


def test_odd_names_become_files_that_any_system_takes(pacas: Any, folder: Path) -> None:
    rows = "\n".join(f"{i},{i},{i}" for i in range(30))
    (folder / "odd.csv").write_text(f'"a/b","A b","*\ud55c"\n{rows}\n{rows}\n{rows}\n', "utf-8")
    pacas("suggest", "hierarchies", "odd.csv", "--output", "odd")
    assert sorted(path.name for path in (folder / "odd").iterdir()) == ["A_b_2.csv", "a_b.csv", "\ud55c.csv"]


def test_columns_have_roles(pacas: Any) -> None:
    document = pacas("suggest", "columns", "people.csv", "--json").document
    roles = {one["attribute"]: one["role"] for one in document["columns"]}
    assert roles["id"] == "identifier" and roles["age"] == roles["country"] == "quasi-identifier"
    assert document["together"][-1]["columns"][: len(document["singles_out_most"])] == document["singles_out_most"]
    text = "\n".join(pacas("suggest", "columns", "people.csv").lines)
    assert "identifier" in text and "single" in text


def test_roles_are_the_sides_of_a_policy_in_toml(pacas: Any, folder: Path) -> None:
    text = pacas("suggest", "columns", "people.csv", "--toml").out
    assert "# id: identifier, it tells nearly every row from every other" in text
    assert tomllib.loads(text) == {}  # nothing in it is sensitive
    lines = [f"p{i},{20 + i % 50},{'fm'[i % 2]},drug {i % 30}" for i in range(900)]
    (folder / "patients.csv").write_text("\n".join(["id,age,sex,medication", *lines]) + "\n")
    text = pacas("suggest", "columns", "patients.csv", "--toml").out
    assert tomllib.loads(text) == {"policy": [{"x": ["age", "sex"], "y": ["medication"], "k": 2}]}


def test_a_line_break_in_a_name_stays_in_its_comment(pacas: Any, folder: Path) -> None:
    lines = [f"{i % 7},{20 + i % 50},drug {i % 3}" for i in range(90)]
    (folder / "odd.csv").write_text("\n".join(['"a\nb",age,medication', *lines]) + "\n")
    assert tomllib.loads(pacas("suggest", "columns", "odd.csv", "--toml").out)["policy"][0]["y"] == ["medication"]
    policy = pacas("suggest", "policy", "odd.csv", "--x", '"a\nb"', "--y", "medication", "--toml")
    assert (policy.code, tomllib.loads(policy.out)) == (1, {})


POLICY = ("suggest", "policy", "people.csv", "--x", "age", "--y", "city", "--match", "id")


def test_a_policy_is_told_with_its_trade_off(pacas: Any) -> None:
    found = pacas(*POLICY, "--share", "0.7", "--json").document["policies"][0]
    assert (found["k"], found["level"], found["safe_level"], found["sold_from"]) == (4, 0, 1, 0)
    assert found["allow_linkage"] and found["kept"] == 61 and found["groups"] == 61 and found["exact"]
    assert found["points"][0]["shares"] == pytest.approx([1 - 61 / 240, 1, 1])
    assert found["per_cell"] == 6


def test_without_options_what_looks_sensitive_is_protected_from_what_others_know(pacas: Any, folder: Path) -> None:
    lines = [f"{20 + i % 50},{'fm'[i % 2]},{i * 7919 % 997},drug {i % 30}" for i in range(900)]
    (folder / "people.csv").write_text("\n".join(["age,sex,weight,medication", *lines]) + "\n")
    (one,) = pacas("suggest", "policy", "people.csv", "--json").document["policies"]
    assert one["attribute"] == "medication" and {"age", "sex"} <= set(one["x"]) and one["match"] == one["x"]
    (folder / "colours.csv").write_text("colour\n" + "red\nblue\n" * 20)
    told = pacas("suggest", "policy", "colours.csv")
    assert told.code == 2 and "no column looks sensitive; name some with --y" in told.err


def test_the_policy_can_be_pasted_into_a_provider_that_starts(pacas: Any, folder: Path) -> None:
    pacas(*HIERARCHIES, "--output", "trees")
    policy = pacas(*POLICY, "--hierarchy", "city=trees/city.csv", "--toml").out
    sections = '[relation]\ndata = "people.csv"\n[hierarchies]\ncity = "trees/city.csv"\n[match]\ncity = "id = id"\n'
    (folder / "own.toml").write_text(sections + policy + "[pricing]\ntotal = 10\n")
    assert tomllib.loads(policy)["policy"][0]["k"] == 4
    assert pacas("lint", "own.toml").code == 0


def test_where_no_policy_does_the_exit_code_says_so(pacas: Any) -> None:
    result = pacas("suggest", "policy", "people.csv", "--x", "age", "--y", "job")
    assert result.code == 1
    assert "no policy: 0 of 240 rows are found alone by age" in result.out


def test_policies_are_told_to_people_and_drawn(pacas: Any, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("p.svg", "p.png", "p.html"):
        text = "\n".join(pacas(*POLICY, "--picture", name).lines)
        assert "240 of 240 rows are told apart by id; 61 of them are kept back, for 61 groups by age" in text
        assert (folder / name).stat().st_size > 1_000
    assert "<svg" in (folder / "p.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*HIERARCHIES, "--toml", "--json"), "choose one"),
        (("suggest", "columns", "people.csv", "--toml", "--json"), "choose one"),
        (("suggest", "match", "people.csv", "--toml", "--json"), "choose one"),
        ((*HIERARCHIES, "-a", "cty"), "cty"),
        ((*HIERARCHIES, "--fd", "age -> cty"), "cty"),
        ((*HIERARCHIES, "--output", "people.csv"), "is there already"),
        ((*POLICY, "--scope", "all"), "no scope 'all'"),
        ((*POLICY, "--picture", "p.doc"), "p.svg"),
        ((*POLICY, "--level", "9"), "no level 9"),
        ((*POLICY, "--hierarchy", "city=med.csv"), "240 rows have a value of city"),
        (("suggest", "columns", "nobody.csv"), "does not exist"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[3:]),
)
def test_bad_input_is_one_line(pacas: Any, arguments: tuple[str, ...], says: str) -> None:
    assert says in pacas(*arguments).complaint
