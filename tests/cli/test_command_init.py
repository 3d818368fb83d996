"""`pacas init client` and `pacas init provider`: what they write runs as it is, and is written with reasons."""

from __future__ import annotations

import io
import json
import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_service import service

from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.cli.start.consulted import ConsultedProvider
from pacas.core.hierarchy import Hierarchy
from pacas.protocol.marketplace import NobodySells
from pacas.protocol.messages import Ladders, Offer, Reason, refused

MAPPED = {"postcode": "ZIP", "town": "City", "kind": "Kind"}
CITIES = {str(10_000 + i): f"city {i % 11}" for i in range(30)}


def shops(rows: int, seed: int) -> list[tuple[str, str, str, str]]:
    """Shops in towns: a ZIP has one city, and a kind of shop follows from nothing."""
    drawn = random.Random(seed)
    return [
        (f"s{seed}-{i}", zip_, CITIES[zip_], drawn.choice(["bar", "bakery", "deli"]))
        for i in range(rows)
        for zip_ in [drawn.choice(sorted(CITIES))]
    ]


@pytest.fixture(autouse=True)
def tables(folder: Path) -> None:
    """A provider's clean table, and a client's under other names with misspelled cities."""
    sold = ["ID,ZIP,City,Kind", *(",".join(row) for row in shops(400, 1))]
    (folder / "sold.csv").write_text("\n".join(sold) + "\n")
    mine = [
        f"{i},{z},{c.replace('city', 'ctiy') if n % 25 == 0 else c},{k}" for n, (i, z, c, k) in enumerate(shops(300, 2))
    ]
    (folder / "mine.csv").write_text("\n".join(["shop,postcode,town,kind", *mine]) + "\n")
    truth = ["shop,postcode,town,kind", *(",".join(row) for row in shops(300, 2))]
    (folder / "truth.csv").write_text("\n".join(truth) + "\n")
    for old in ("client.toml", "provider.toml"):
        (folder / old).unlink()


def test_from_a_table_to_a_cleaned_one_in_two_commands(pacas: Any, folder: Path) -> None:
    told = pacas("init", "client", "mine.csv", "--json").document
    assert [one["fd"] for one in told["fds"] if one["on"]] == ["postcode -> town"]
    assert (told["provider"], told["budget"], told["dry_run"], told["keys"]) == (None, None, None, ["shop"])
    file = tomllib.loads((folder / "client.toml").read_text())
    assert file == {"data": "mine.csv", "fds": ["postcode -> town"]}
    assert pacas("clean", "client.toml", "--truth", "truth.csv", "--json").document["score"]["wrong_after"] == 0


@pytest.mark.parametrize("is_dirty", [False, True])
def test_where_all_that_counts_holds_already_it_is_said_that_errors_are_elsewhere(
    pacas: Any, folder: Path, is_dirty: bool
) -> None:
    """A newcomer would clean, and see that nothing was changed, and not why."""
    rows = [row.split(",") for row in (folder / ("mine.csv" if is_dirty else "truth.csv")).read_text().splitlines()]
    drawn = random.Random(1)
    noted = [[*row, "note" if not n else row[2] if drawn.random() < 0.6 else "x"] for n, row in enumerate(rows)]
    (folder / "noted.csv").write_text("\n".join(map(",".join, noted)) + "\n")
    told = pacas("init", "client", "noted.csv").out
    assert ("All that counts holds already" in told) is not is_dirty
    assert "Next: pacas clean client.toml" in told


def test_the_reasons_stand_in_the_file_and_are_told(pacas: Any, folder: Path) -> None:
    lines = pacas("init", "client", "mine.csv").lines
    assert lines[1].startswith("postcode -> town  96.0% of 300 rows in 30 groups agree; exceptions: ")
    assert lines[-2:] == [
        "client.toml written: 1 dependency; 0 more to judge, as comments.",
        "Next: pacas clean client.toml",
    ]
    text = (folder / "client.toml").read_text()
    assert '"postcode -> town",  # 96.0% of 300 rows in 30 groups agree' in text
    assert "# Keys tell every row apart, and so say nothing of others: shop" in text


def test_what_one_group_alone_speaks_for_is_a_comment(pacas: Any, folder: Path) -> None:
    """Of nine towns one mostly has Y; a cleaning would make N of all of them, for a block that was overwritten."""
    counts = [(597, 0), (15, 140), (135, 5), (120, 5), (80, 2), (46, 1), (37, 0), (8, 0), (5, 2)]
    rows = [
        f"t{n},area {n % 4},{v}"
        for n, ny in enumerate(counts)
        for v, times in zip("NY", ny, strict=True)
        for _ in range(times)
    ]
    (folder / "visits.csv").write_text("\n".join(["town,area,urgent", *rows]) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "visits.csv", "--json").document["fds"]}
    assert fds["town -> area"]["on"] and not fds["town -> urgent"]["on"]
    assert "hardly a group has another value" in fds["town -> urgent"]["why"]
    done = pacas("clean", "client.toml", "--truth", "visits.csv", "--json").document
    assert done["score"]["wrong_after"] == 0


def test_where_one_left_side_holds_exactly_another_with_exceptions_is_a_comment(pacas: Any, folder: Path) -> None:
    """Or rows that are right would be changed: what the exact one tells shows no errors."""
    rows = [f"s{s},m{s // 2}/{n % 5},c{s // 4}" for s in range(80) for n in range(10)]
    rows += [f"s{s},m{s // 2 + 20}/{s},c{s // 4}" for s in range(4)]  # another's measure, now and then
    (folder / "studies.csv").write_text("\n".join(["study,measure,condition", *rows]) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "studies.csv", "--json").document["fds"]}
    assert fds["study -> condition"]["on"] and not fds["measure -> condition"]["on"]
    assert fds["measure -> condition"]["why"].startswith("study -> condition has no exceptions: ")
    assert pacas("clean", "client.toml", "--truth", "studies.csv", "--json").document["score"]["wrong_after"] == 0


@pytest.mark.parametrize("is_blind", [False, True])
def test_exceptions_that_go_with_another_column_are_left_to_judge(pacas: Any, folder: Path, is_blind: bool) -> None:
    """Errors strike whatever else stands in a row; here those who study have another benefit than most like them."""
    drawn = random.Random(5)
    lines = ["household,region,enrolled,benefit"]
    for _ in range(900):
        household = drawn.randrange(24)
        enrolled = drawn.random() < 0.06
        is_other = drawn.random() < 0.05 if is_blind else enrolled and drawn.random() < 0.8
        benefit = (household + drawn.randrange(1, 24)) % 24 if is_other else household
        lines.append(f"kind {household:02},region {household % 5},{'yes' if enrolled else 'no'},benefit {benefit:02}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "people.csv", "--json").document["fds"]}
    assert fds["household -> region"]["on"]
    assert fds["household -> benefit"]["on"] == is_blind
    assert is_blind or fds["household -> benefit"]["why"].startswith(
        "its exceptions go with enrolled, and may be right"
    )


@pytest.mark.parametrize("is_error", [False, True])
def test_exceptions_that_other_columns_speak_for_are_left_to_judge(pacas: Any, folder: Path, is_error: bool) -> None:
    """Who was born where the mother was speaks for a mother who is not from where the father is."""
    drawn = random.Random(7)
    lines = ["father,mother,child"]
    for _ in range(900):
        father = drawn.randrange(12)
        other = drawn.randrange(12) if drawn.random() < 0.13 else father
        child = drawn.randrange(12) if drawn.random() < 0.25 else father if is_error else other
        lines.append(f"land {father:02},land {other:02},land {child:02}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "people.csv", "--json").document["fds"]}
    assert fds["father -> mother"]["on"] == is_error
    assert is_error or fds["father -> mother"]["why"].startswith("other columns speak for its exceptions")


@pytest.mark.parametrize("is_told", [False, True])
def test_exceptions_that_go_with_the_rest_of_their_rows_are_left_to_judge(
    pacas: Any, folder: Path, is_told: bool
) -> None:
    """A firm mostly sells one kind of thing; where it sells another, half of the rest is that of the other.

    Where the kind tells the firm in turn, that speaks against the firm that stands there; to write another kind
    would do harm just as well.
    """
    drawn = random.Random(11)
    lines = ["firm,kind,weight,shelf,colour"]
    for row in range(900):
        firm = drawn.randrange(200)
        kinds = 200 if is_told else 5
        sold = (firm + drawn.randrange(1, 5)) % kinds if drawn.random() < 0.05 else firm % kinds
        rest = (sold % 5 if drawn.random() < 0.55 else drawn.randrange(5) for _ in range(3))
        kind = "cind" if row % 90 == 3 else "kind"
        weight, shelf, colour = rest
        lines.append(f"firm {firm:03},{kind} {sold},weight {weight},shelf {shelf},colour {colour}")
    (folder / "things.csv").write_text("\n".join(lines) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "things.csv", "--json").document["fds"]}
    why = "what it would change may be right" if is_told else "most of its exceptions go with the rest of their rows"
    assert not fds["firm -> kind"]["on"] and fds["firm -> kind"]["why"].startswith(why)


@pytest.mark.parametrize("slips", [0, 2, 3])
def test_a_few_exceptions_without_a_slip_of_the_pen_are_left_to_judge(pacas: Any, folder: Path, slips: int) -> None:
    rows = [[z, c] for _, z, c, _ in shops(300, 2)]
    for n in range(4):
        town = int(rows[50 * n][1][5:])
        rows[50 * n][1] = f"citi {town}" if n < slips else f"city {(town + 4) % 11}"
    (folder / "few.csv").write_text("\n".join(["postcode,town", *map(",".join, rows)]) + "\n")
    (one,) = (d for d in pacas("init", "client", "few.csv", "--json").document["fds"] if d["fd"] == "postcode -> town")
    assert one["on"] == (slips == 3)
    if not one["on"]:
        why = "what it would change may be right" if slips else "its few exceptions hardly look like errors"
        assert one["why"].startswith(why)


@pytest.mark.parametrize("is_even", [False, True])
def test_exceptions_of_few_groups_are_left_to_judge(pacas: Any, folder: Path, is_even: bool) -> None:
    """Errors strike every group alike; in two countries nearly half speak another language."""
    drawn = random.Random(3)
    lines = ["country,continent,tongue"]
    for _ in range(900):
        country = drawn.randrange(24)
        is_other = drawn.random() < (0.035 if is_even else 0.42 * (country < 2))
        tongue = (country + drawn.randrange(1, 24)) % 24 if is_other else country
        lines.append(f"country {country:02},continent {country % 5},tongue {tongue:02}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    fds = {one["fd"]: one for one in pacas("init", "client", "people.csv", "--json").document["fds"]}
    assert fds["country -> continent"]["on"]
    assert fds["country -> tongue"]["on"] == is_even
    assert is_even or "stand in few groups" in fds["country -> tongue"]["why"]


def test_with_a_provider_columns_are_mapped_and_a_dry_run_says_the_budget(pacas: Any, folder: Path) -> None:
    assert pacas("init", "provider", "sold.csv").code == 0
    told = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--json").document
    assert {one["own"]: one["provider"] for one in told["columns"]} == MAPPED
    assert told["dry_run"]["spent"] <= told["budget"]
    assert told["fds"][0]["why"].startswith("the provider has one value for each; ")
    file = tomllib.loads((folder / "client.toml").read_text())
    assert (file["provider"], file["budget"]) == ("provider.toml", told["budget"])
    cleaned = pacas("clean", "client.toml", "--truth", "truth.csv", "--json").document
    assert (cleaned["budget"], cleaned["score"]["wrong_after"]) == (told["budget"], 0)


def test_what_the_table_suggests_counts_where_what_the_provider_tells_repairs_nothing(pacas: Any, folder: Path) -> None:
    """It sells a ZIP by its city, and no city: beside misspelled ones, each of its own, every ZIP is right."""
    towns = (
        "florence",
        "dothan",
        "boaz",
        "opelika",
        "sheffield",
        "gadsden",
        "mobile",
        "selma",
        "troy",
        "athens",
        "jasper",
    )
    town_of = dict(zip(CITIES, towns, strict=False))
    (folder / "sold.csv").write_text("\n".join(["ZIP,City", *(f"{z},{t}" for z, t in town_of.items())]) + "\n")
    (folder / "provider.toml").write_text(
        '[relation]\ndata = "sold.csv"\n[hierarchies]\nZIP = "zips.csv"\n'
        '[match]\nZIP = "City = City"\n[[dependency]]\nfd = "City -> ZIP"\n[pricing]\ntotal = 12.0\n'
    )
    (folder / "zips.csv").write_text("".join(f"{zip_},*\n" for zip_ in town_of))
    rows = random.Random(1).choices(list(town_of), k=600)
    slips = {n: town_of[z].replace(town_of[z][n // 25 % 4], "x", 1) for n, z in enumerate(rows) if n % 25 == 0}
    mine = [f"{z},{slips.get(n, town_of[z])}" for n, z in enumerate(rows)]
    for name, lines in (("mine.csv", mine), ("truth.csv", [f"{z},{town_of[z]}" for z in rows])):
        (folder / name).write_text("\n".join(["ZIP,City", *lines]) + "\n")
    told = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--json").document
    assert [one["fd"] for one in told["fds"] if one["on"]] == ["City -> ZIP", "ZIP -> City"]
    score = pacas("clean", "client.toml", "--truth", "truth.csv", "--json").document["score"]
    assert (score["wrong"], score["wrong_after"]) == (24, 0)


def write_breweries(folder: Path, seed: int, numbers: int, states: int) -> None:
    """Of 600 rows so many have another brewery's number, others another state; who is asked knows states by numbers."""
    drawn, known = random.Random(seed), ["CA", "OR", "TX", "WA"]
    breweries = [(f"b{i}", f"name {i}", drawn.choice(known)) for i in range(80)]
    truth = [drawn.choice(breweries) for _ in range(600)]
    mine = [list(row) for row in truth]
    struck = drawn.sample(mine, numbers + states)
    for row in struck[:numbers]:
        row[0] = drawn.choice(breweries)[0]
    for row in struck[numbers:]:
        row[2] = drawn.choice([state for state in known if state != row[2]])
    for name, rows in (("mine.csv", mine), ("truth.csv", truth)):
        (folder / name).write_text("\n".join(["number,name,state", *map(",".join, rows)]) + "\n")
    (folder / "states.csv").write_text("".join(f"{state},*\n" for state in known))
    (folder / "provider.toml").write_text(
        '[relation]\ndata = "truth.csv"\nabout = "things"\n[hierarchies]\nstate = "states.csv"\n'
        '[match]\nstate = "number = number"\n[[dependency]]\nfd = "number -> state"\n[pricing]\ntotal = 10.0\n'
    )


@pytest.mark.parametrize(("seed", "states"), [(2, 20), (2, 45), (4, 35), (4, 0), (7, 0)])
def test_where_the_provider_tells_the_wrong_half_of_a_row_nothing_is_made_worse(
    pacas: Any, folder: Path, seed: int, states: int
) -> None:
    """The names say that the numbers are wrong, and the states right; what then counts instead is tried out, too."""
    write_breweries(folder, seed, 60, states)
    pacas("init", "client", "mine.csv", "--provider", "provider.toml")
    score = pacas("clean", "client.toml", "--truth", "truth.csv", "--json").document["score"]
    score = score.get("total", score)
    assert score["wrong_after"] <= score["wrong"]


def test_what_the_provider_tells_counts_where_some_right_sides_are_misspelled_and_most_rare(
    pacas: Any, folder: Path
) -> None:
    """Rare diseases are not rare, so that one alone in a group may be right: but the provider says that none is."""
    common = [(f"c{i}", f"{name} disease") for i, name in enumerate(CITIES.values())]
    rare = [(f"r{i}", f"disease number {i}") for i in range(120)]
    truth = [*random.Random(1).choices(common, k=480), *rare]
    mine = [list(row) for row in truth]
    for n in range(11):
        mine[n][1] = f"disease of nobody {n}"
    for n in range(11, 15):
        mine[n][1] = mine[n][1].replace("disease", "dsease")
    for name, rows in (("mine.csv", mine), ("truth.csv", truth)):
        (folder / name).write_text("\n".join(["code,disease", *map(",".join, rows)]) + "\n")
    (folder / "diseases.csv").write_text("".join(f"{value},*\n" for value in sorted({row[1] for row in truth})))
    (folder / "provider.toml").write_text(
        '[relation]\ndata = "truth.csv"\nabout = "things"\n[hierarchies]\ndisease = "diseases.csv"\n'
        '[match]\ndisease = "code = code"\n[[dependency]]\nfd = "code -> disease"\n[pricing]\ntotal = 12.0\n'
    )
    told = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--json").document
    assert [one["fd"] for one in told["fds"] if one["on"]] == ["code -> disease"]
    score = pacas("clean", "client.toml", "--truth", "truth.csv", "--json").document["score"]
    assert score["wrong_after"] == 0


def write_books(folder: Path, seed: int, struck: Sequence[str]) -> None:
    """Orders of books, an error in some columns of one in eight; who is asked finds them by ISBN."""
    drawn, head = random.Random(seed), ["order", "isbn", "title", "author", "publisher", "city"]
    houses = {f"press {i}": f"town {i % 7}" for i in range(20)}
    authors = [f"{drawn.choice('abcdefgh')}. writer{i % 13}" for i in range(40)]
    books = [
        [f"978-{drawn.randrange(10**9):09}", f"the book of {chr(97 + i % 26)} and {i}", drawn.choice(authors), *house]
        for i, house in enumerate(drawn.choices(list(houses.items()), k=90))
    ]
    truth = [[f"o{n}", *drawn.choice(books)] for n in range(1_200)]
    mine = [list(row) for row in truth]
    for row in drawn.sample(mine, 150):
        place = head.index(drawn.choice(struck))
        value, letter = row[place], drawn.randrange(3, 6)
        others = [book[place - 1] for book in books if book[place - 1] != value]
        row[place] = drawn.choice([f"{value[:letter]}x{value[letter + 1 :]}", drawn.choice(others)])
    for name, rows in (("mine.csv", mine), ("truth.csv", truth)):
        (folder / name).write_text("\n".join([",".join(head), *map(",".join, rows)]) + "\n")


@pytest.mark.parametrize("struck", [("isbn", "author"), ("isbn", "author", "publisher", "city")])
def test_what_a_provider_tells_takes_nothing_from_what_the_table_mends_for_nothing(
    pacas: Any, folder: Path, struck: tuple[str, ...]
) -> None:
    """It finds them by ISBN, and wrong ones stayed wrong: what tells an ISBN counted as in the way."""
    write_books(folder, 1, struck)
    pacas("init", "provider", "truth.csv")
    left = {}
    for name, arguments in (("alone", ()), ("told", ("--provider", "provider.toml"))):
        pacas("init", "client", "mine.csv", *arguments, "-o", f"{name}.toml")
        score = pacas("clean", f"{name}.toml", "--budget", "0", "--truth", "truth.csv", "-o", f"{name}.csv", "--json")
        left[name] = score.document["score"].get("total", score.document["score"])["wrong_after"]
    assert left["told"] <= left["alone"] <= 5


def test_no_ledger_is_opened_and_paths_are_relative_to_the_file(pacas: Any, folder: Path) -> None:
    (folder / "made").mkdir()
    assert pacas("init", "provider", "sold.csv", "-o", "made/shop.toml").code == 0
    (folder / "kept").mkdir()
    assert pacas("init", "client", "mine.csv", "--provider", "made/shop.toml", "-o", "kept/me.toml").code == 0
    assert tomllib.loads((folder / "made" / "shop.toml").read_text())["relation"]["data"] == "../sold.csv"
    file = tomllib.loads((folder / "kept" / "me.toml").read_text())
    assert (file["data"], file["provider"]) == ("../mine.csv", "../made/shop.toml")
    assert sorted(path.name for path in (folder / "made").iterdir()) == ["hierarchies", "shop.toml"]
    assert pacas("clean", "kept/me.toml", "--dry-run").code == 0


def test_what_the_provider_publishes_comes_first(pacas: Any, folder: Path) -> None:
    pacas("init", "provider", "sold.csv")
    text = (folder / "provider.toml").read_text()
    assert "\n# publish_dependencies = [" in text and "# [service]" in text
    published = text.replace("# [service]", "[service]").replace("# publish_dep", "publish_dep")
    (folder / "provider.toml").write_text(published)
    told = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--json").document
    assert told["fds"][0] == {
        "fd": "postcode -> town",
        "why": "the provider says that it holds in its table",
        "on": True,
    }


def test_over_the_wire_names_alone_say_which_column_is_which(pacas: Any, folder: Path) -> None:
    pacas("init", "provider", "sold.csv")
    with opened_provider(read_provider("provider.toml")) as opened, service(opened, "ann") as (url, token):
        told = pacas("init", "client", "mine.csv", "--provider", url, "--token", token, "--json").document
        assert {one["own"]: one["provider"] for one in told["columns"]} == MAPPED
        cleaned = pacas("clean", "client.toml", "--token", token, "--truth", "truth.csv", "--json").document
    assert (tomllib.loads((folder / "client.toml").read_text())["provider"], cleaned["score"]["wrong_after"]) == (
        url,
        0,
    )


def test_what_a_provider_on_another_machine_is_sent_stands_in_the_file(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a cleaning needs no edit, and nobody to ask."""
    monkeypatch.setattr("pacas.remote.address.is_loopback", lambda host: False)
    pacas("init", "provider", "sold.csv")
    with opened_provider(read_provider("provider.toml")) as opened, service(opened, "ann") as (url, token):
        sold = opened.catalogue()["City"].columns
        pacas("init", "client", "mine.csv", "--provider", url, "--token", token, "--insecure")
        assert tomllib.loads((folder / "client.toml").read_text())["send"] == {"City": list(sold)}
        pacas("clean", "client.toml", "--token", token, "--insecure")


def test_what_cannot_be_found_is_not_the_providers_to_repair(pacas: Any, folder: Path) -> None:
    """The provider finds a city by a shop's number, which the client has not."""
    pacas("init", "provider", "sold.csv")
    text = (folder / "provider.toml").read_text().replace('City = "ZIP = ZIP"', 'City = "ID = ID"')
    (folder / "provider.toml").write_text(text.replace('[[dependency]]\nfd = "ZIP -> City"\n', ""))
    lines = (folder / "mine.csv").read_text().replace("postcode,town", "postcode,City").splitlines()
    (folder / "mine.csv").write_text("\n".join(line.partition(",")[2] for line in lines) + "\n")
    told = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--json").document
    assert {"own": "City", "provider": None} in told["columns"]
    assert "City = false" in (folder / "client.toml").read_text()
    assert pacas("clean", "client.toml", "--json").document["violations_after"] == 0


@pytest.mark.parametrize(
    ("answers", "fds"), [("\n\n", ["postcode -> town"]), ("n\n", []), ("y\n", ["postcode -> town"])]
)
def test_asking_goes_through_the_choices(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, answers: str, fds: list[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    outcome = pacas("init", "client", "mine.csv", "--ask", "--json")
    assert [one["fd"] for one in json.loads(outcome.out)["fds"] if one["on"]] == fds
    assert "Should postcode -> town hold (" in outcome.err
    assert tomllib.loads((folder / "client.toml").read_text())["fds"] == fds


def test_asking_a_provider_goes_through_what_is_sold(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" + "\n" * 9))
    outcome = pacas("init", "provider", "sold.csv", "--ask", "--json")
    sold = [one["attribute"] for one in json.loads(outcome.out)["sold"]]
    assert "Sell City, found by ZIP?" in outcome.err
    assert sold == ["Kind"]


def test_asking_a_provider_of_people_asks_what_policies_leave_for_sale(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n" * 4 + "all\n2\n0.3\n"))
    outcome = pacas("init", "provider", "people.csv", "--ask", "--json")
    assert [outcome.err.count(f"at most 1, not {wrong}") for wrong in ("all", "2")] == [1, 1]
    told = pacas("init", "provider", "people.csv", "--share", "0.3", "-o", "other/p.toml", "--json").document
    assert json.loads(outcome.out)["sold"] == told["sold"]


def test_a_budget_that_is_none_is_asked_for_again(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pacas("init", "provider", "sold.csv")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n" * 20))
    asked = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--ask").err
    before = asked[: asked.index("What may all values")].count("?")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n" * before + "much\n-1\n2.5\n"))
    outcome = pacas("init", "client", "mine.csv", "--provider", "provider.toml", "--ask", "-o", "b.toml", "--json")
    assert (outcome.code, json.loads(outcome.out)["budget"], outcome.err.count("Error: ")) == (0, 2.5, 2)


@pytest.mark.parametrize("what", ["client", "provider"])
def test_where_nobody_answers_it_is_said(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    outcome = pacas("init", what, "sold.csv", "--ask")
    assert outcome.code == 2 and outcome.err.endswith("ask in a terminal, or leave it out\n")
    assert not (folder / f"{what}.toml").exists()


@pytest.mark.parametrize("what", ["client", "provider"])
def test_nothing_is_ever_written_over(pacas: Any, folder: Path, what: str) -> None:
    (folder / f"{what}.toml").write_text("mine")
    complaint = pacas("init", what, "sold.csv").complaint
    remedy = "remove it, or give an --output elsewhere"
    assert complaint == f"{what}.toml is there already, and nothing is written over it; {remedy}"
    assert (folder / f"{what}.toml").read_text() == "mine"


def test_a_second_provider_in_a_folder_is_told_to_be_elsewhere_for_its_hierarchies_and_is(
    pacas: Any, folder: Path
) -> None:
    pacas("init", "provider", "sold.csv")
    complaint = pacas("init", "provider", "sold.csv", "--output", "second.toml").complaint
    assert complaint.startswith("hierarchies") and complaint.endswith("or give an --output elsewhere")
    pacas("init", "provider", "sold.csv", "--output", "second/provider.toml")
    assert (folder / "second" / "hierarchies").is_dir()


def test_files_are_written_all_or_none(pacas: Any, folder: Path) -> None:
    (folder / "hierarchies").mkdir()
    (folder / "hierarchies" / "City.csv").write_text("mine")
    assert "hierarchies/City.csv is there already" in pacas("init", "provider", "sold.csv").complaint
    assert not (folder / "provider.toml").exists()
    assert [path.name for path in (folder / "hierarchies").iterdir()] == ["City.csv"]


def test_a_providers_file_sells_as_it_is(pacas: Any, folder: Path) -> None:
    told = pacas("init", "provider", "sold.csv", "--json").document
    sold = {one["attribute"]: one["match"] for one in told["sold"]}
    assert sold == {"City": ["ZIP"], "Kind": ["ID"]}
    assert told["dependencies"] == ["ZIP -> City"]
    assert {one["attribute"] for one in told["unsold"]} == set()
    assert all((folder / name).exists() for name in told["files"])
    assert pacas("lint", "provider.toml").code == 0
    assert pacas("audit", "provider.toml").code == 0
    (folder / "ask.jsonl").write_text('{"tuple": {"ZIP": "10003"}, "attribute": "City", "level": 0}\n')
    assert (
        pacas("buy", "provider.toml", "--requests", "ask.jsonl", "--json").document["purchases"][0]["answer"]
        == "city 3"
    )


def people(folder: Path) -> None:
    drawn = random.Random(5)
    rows = [f"p{i},{drawn.randrange(18, 90)},{drawn.choice('fm')},{drawn.randrange(900, 9000, 10)}" for i in range(300)]
    (folder / "people.csv").write_text("\n".join(["person,age,sex,income", *rows]) + "\n")


def test_what_finds_a_person_is_sold_under_a_policy_with_its_trade_off_drawn(pacas: Any, folder: Path) -> None:
    people(folder)
    told = pacas("init", "provider", "people.csv", "--json").document
    policies = {one["attribute"]: one["policy"] for one in told["sold"]}
    assert {*policies} == {"age", "income"} and all(one["k"] >= 2 for one in policies.values())
    (unsold,) = told["unsold"]
    assert unsold["attribute"] == "sex" and "no level of its hierarchy hides it" in unsold["why"]
    text = (folder / "provider.toml").read_text()
    assert "<- chosen" in text and 'scope = "row"' in text
    lint = pacas("lint", "provider.toml", "--json")
    assert lint.code == 0
    assert not {"unprotected", "sells-nothing", "rare-groups"} & {one["rule"] for one in lint.document["findings"]}


def test_a_larger_share_never_asks_for_a_larger_k(pacas: Any, folder: Path) -> None:
    people(folder)
    found = {}
    for share in ("0.3", "1"):
        told = pacas("init", "provider", "people.csv", "--share", share, "-o", f"{share}/p.toml", "--json").document
        found[share] = {one["attribute"]: one["policy"] for one in told["sold"]}
    for attribute, policy in found["1"].items():
        assert policy["sold_from"] >= found["0.3"][attribute]["sold_from"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("client", "nothing.csv"), "nothing.csv does not exist"),
        (("client", "mine.csv", "--provider", "nothing.toml"), "nothing.toml cannot be read"),
        (("client", "mine.csv", "--provider", "provider.toml", "--ca", "x"), "--ca goes with a provider at a URL"),
        (("provider", "sold.csv", "--share", "2"), "--share is above 0 and at most 1, not 2"),
    ],
)
def test_mistakes_are_one_line(pacas: Any, arguments: tuple[str, ...], says: str) -> None:
    assert says in pacas("init", *arguments).complaint


def test_a_table_of_which_nothing_can_be_sold_says_so(pacas: Any, folder: Path) -> None:
    (folder / "flat.csv").write_text("a\n" + "x\n" * 9)
    complaint = pacas("init", "provider", "flat.csv").complaint
    assert complaint == "flat.csv: nothing in it can be sold as it is; a: one value"
    assert not (folder / "provider.toml").exists()


@pytest.mark.parametrize(
    ("reasons", "is_sure"),
    [
        ([None] * 9 + [Reason.AMBIGUOUS], True),
        ([None] * 3 + [Reason.NO_MATCH] * 9, True),
        ([None] * 3 + [Reason.UNSAFE] * 9, True),
        ([None] * 8 + [Reason.AMBIGUOUS] * 2, False),
        ([None] * 8 + [Reason.REFUSED] * 2, False),
        ([None] * 2, False),
    ],
)
def test_a_refusal_without_its_reason_speaks_against_one_value_each(
    reasons: list[Reason | None], is_sure: bool
) -> None:
    class Quoting(NobodySells):
        def quote_batch(self, attribute: str, tuples: Any) -> Ladders:  # type: ignore[override]
            return Ladders(np.array([[5 if reason is None else refused(reason)] for reason in reasons]))

    offer = Offer("B", ("A",), Hierarchy.flat(["x", "y"]))
    asked = ConsultedProvider("somebody", Quoting(), None)
    assert asked.answers_for(offer, [[str(n) for n in range(len(reasons))]]) is is_sure


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--json"], ["--report", "r.html", "--changes", "c.csv"]])
def test_a_file_in_which_nothing_is_turned_on_runs_and_says_what_to_do(
    pacas: Any, folder: Path, more: list[str]
) -> None:
    (folder / "few.csv").write_text("A,B\n1,x\n2,y\n")
    assert pacas("init", "client", "few.csv").code == 0
    result = pacas("clean", "client.toml", *more)
    assert result.code == 0
    (said,) = [line for line in result.err.splitlines() if "nothing to clean" in line]
    assert said.startswith("pacas: nothing to clean: no dependency is turned on in client.toml; take the # from one")
    if "--dry-run" not in more:
        assert (folder / "few.clean.csv").read_text() == (folder / "few.csv").read_text()


def test_a_file_in_which_nothing_is_turned_on_buys_nothing(pacas: Any, folder: Path) -> None:
    assert pacas("init", "provider", "sold.csv").code == 0
    (folder / "none.toml").write_text('data = "mine.csv"\nfds = []\n[columns]\ntown = "City"\n')
    for strategy in ("weigh", "paper"):
        asked = ["--provider", "provider.toml", "--budget", "2", "--strategy", strategy, "--json"]
        result = pacas("clean", "none.toml", *asked)
        assert result.code == 0 and "nothing to clean" in result.err and json.loads(result.out)["spent"] == 0
        assert (folder / "mine.clean.csv").read_bytes() == (folder / "mine.csv").read_bytes()


def test_what_nearly_tells_a_protected_column_is_not_sold_beside_it(pacas: Any, folder: Path) -> None:
    """Years are the age, but for three people in a hundred."""
    drawn = random.Random(4)
    ages = [drawn.randrange(20, 80) for _ in range(600)]
    years = [age if drawn.random() > 0.03 else drawn.randrange(20, 80) for age in ages]
    lines = [f"p{i},{age},{year}" for i, (age, year) in enumerate(zip(ages, years, strict=True))]
    (folder / "people.csv").write_text("\n".join(["patient,age,years", *lines]) + "\n")
    told = pacas("init", "provider", "people.csv", "--json").document
    assert len(told["sold"]) == 1 and any("nearly determines" in one["why"] for one in told["unsold"])
    found = pacas("lint", "provider.toml", "--json").document["findings"]
    assert {one["severity"] for one in found} <= {"note"}


def test_what_is_sold_is_found_by_columns_that_single_nearly_everybody_out(pacas: Any, folder: Path) -> None:
    """A weight is that of one person for seven in eight, and with a job for nearly all: fewer would be a warning."""
    drawn = random.Random(4)
    jobs, hours = "abcdefgh", [*range(20, 60), *[40] * 120]
    lines = [
        f"{drawn.randrange(5_000)},{drawn.choice(jobs)},{drawn.randrange(20, 80)},{drawn.choice(hours)}"
        for _ in range(600)
    ]
    (folder / "people.csv").write_text("\n".join(["weight,job,age,hours", *lines]) + "\n")
    told = pacas("init", "provider", "people.csv", "--json").document
    assert told["sold"] and all({"weight"} < set(one["match"]) for one in told["sold"])
    found = pacas("lint", "provider.toml", "--json").document["findings"]
    assert {one["severity"] for one in found} <= {"note"}


def test_rows_that_are_not_people_are_said_to_be_things_and_the_linter_has_only_notes(pacas: Any, folder: Path) -> None:
    """The file says so, the linter and the audit go by it and show it; without it both warn."""
    assert pacas("init", "provider", "sold.csv").code == 0
    text = (folder / "provider.toml").read_text()
    assert tomllib.loads(text)["relation"] == {"data": "sold.csv", "about": "things"}
    (found,) = pacas("lint", "provider.toml", "--json").document["findings"]
    assert (found["rule"], found["severity"], found["people"]) == ("unprotected", "note", 0)
    audit = pacas("audit", "provider.toml", "--json").document
    assert (audit["warnings"], [one["rule"] for one in audit["findings"]]) == ([], ["unprotected"])
    (folder / "people.toml").write_text(text.replace('about = "things"', 'about = "people"'))
    (found,) = pacas("lint", "people.toml", "--json").document["findings"]
    assert (found["rule"], found["severity"], found["people"]) == ("unprotected", "warning", 400)
    assert pacas("audit", "people.toml", "--json").document["warnings"] == [
        "there is no policy: everything is safe to sell"
    ]


def test_what_rows_are_about_may_change_under_a_ledger(pacas: Any, folder: Path) -> None:
    assert pacas("init", "provider", "sold.csv").code == 0
    (folder / "ask.jsonl").write_text('{"tuple": {"ZIP": "10003"}, "attribute": "City", "level": 0}\n')
    assert pacas("buy", "provider.toml", "--requests", "ask.jsonl").code == 0
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text.replace('about = "things"', 'about = "people"'))
    assert pacas("buy", "provider.toml", "--requests", "ask.jsonl").code == 0
