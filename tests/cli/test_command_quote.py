"""`pacas quote`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pacas.provider.ledger.entry import GENESIS
from pacas.storage.sqlite.ledger import SqliteLedger

QUOTE = ("quote", "provider.toml")


def ask(folder: Path, *lines: Any) -> tuple[str, str]:
    """A file of requests; each line is an object, or the text itself."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "r.jsonl").write_text(text + "\n", "utf-8")
    return "--requests", "r.jsonl"


def med(gender: Any, age: Any, **more: Any) -> dict[str, Any]:
    return {"tuple": {"GEN": gender, "AGE": age}, "attribute": "MED", **more}


def test_the_json_has_the_promised_shape(pacas: Any, folder: Path) -> None:
    asked = ask(folder, med("male", "51", level=1), med("female", "67"), med("male", "45", level=0))
    result = pacas(*QUOTE, *asked, "--json")
    assert result.code == 0
    assert result.document == {
        "quotes": [
            {"price": 0.7},
            {"levels": [{"refused": "unsafe"}, {"refused": "unsafe"}, {"price": 0.4}, {"price": 0.0}]},
            {"refused": "no_match"},
        ]
    }


def test_what_would_match_in_another_spelling_is_told(pacas: Any, folder: Path) -> None:
    asked = ask(folder, med("MALE", "51", level=1), med("Female", "67.0"), med("male", "99", level=0))
    told = pacas(*QUOTE, *asked, "--json").document
    assert told["would_match"] == [{"attribute": "MED", "found": 2, "tried": 3}]
    said = pacas(*QUOTE, *asked).err
    assert said.startswith("pacas: MED: no_match: at least 2 of 3 tried would match") and said.count("\n") == 1


def test_too_many_rows_are_told_from_rows_that_say_several_things(pacas: Any, folder: Path) -> None:
    paper = (folder / "provider.toml").read_text().replace('"GEN = GEN, AGE = AGE"', '"GEN = GEN"')
    asked = ask(folder, {"tuple": {"GEN": "male"}, "attribute": "MED", "level": 0})
    (folder / "provider.toml").write_text(paper)
    assert pacas(*QUOTE, *asked, "--json").document["quotes"] == [{"refused": "ambiguous"}]
    (folder / "provider.toml").write_text(f"max_matches = 1\n{paper}")
    too_many = {"refused": "ambiguous", "because": "max_matches"}
    assert pacas(*QUOTE, *asked, "--json").document["quotes"] == [too_many]
    assert pacas("buy", "provider.toml", *asked, "--json").document["purchases"] == [too_many]
    assert pacas(*QUOTE, *asked).lines[1].split() == ["1", "MED", "0", "max_matches"]


def test_prices_are_rounded_for_people_and_exact_in_json(pacas: Any, folder: Path) -> None:
    paper = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(paper.replace("total = 6.0", "total = 1234.567891234"))
    asked = ask(folder, med("male", "51", level=1))
    (quote,) = pacas(*QUOTE, *asked, "--json").document["quotes"]
    assert quote["price"] == 144.032920647
    assert pacas(*QUOTE, *asked).lines[1].split() == ["1", "MED", "1", "144.03"]


def test_for_people_it_prints_a_row_a_request(pacas: Any) -> None:
    assert pacas(*QUOTE, "--requests", "requests.jsonl").lines == [
        "request  attribute  level     price",
        "      1  MED            1       0.7",
        "      2  MED            2       0.4",
        "      3  MED            1    unsafe",
        "      4  MED            1  no_match",
        "2 priced, in credits; 2 refused",
    ]


def test_for_people_a_ladder_has_a_column_per_level(pacas: Any, folder: Path) -> None:
    assert pacas(*QUOTE, *ask(folder, med("male", "51"), med("female", "45", level=2))).lines == [
        "request  attribute  level 0  level 1  level 2  level 3",
        "      1  MED         unsafe      0.7      0.4        0",
        "      2  MED                              0.4",
        "4 priced, in credits; 1 refused",
    ]


def test_requests_come_from_standard_input_too(pacas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = json.dumps(med("male", "51", level=2)).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert pacas(*QUOTE, "--requests", "-", "--json").document == {"quotes": [{"price": 0.4}]}


@pytest.mark.parametrize("lines", [[""], ["", "  ", ""]])
def test_no_requests_have_no_quotes(pacas: Any, folder: Path, lines: list[str]) -> None:
    assert pacas(*QUOTE, *ask(folder, *lines), "--json").document == {"quotes": []}
    assert pacas(*QUOTE, *ask(folder, *lines)).lines == ["0 priced, in credits; 0 refused"]


@pytest.mark.parametrize("age", ["51", 51, 51.0])
def test_a_number_is_its_text(pacas: Any, folder: Path, age: Any) -> None:
    assert pacas(*QUOTE, *ask(folder, med("male", age, level=1)), "--json").document == {"quotes": [{"price": 0.7}]}


@pytest.mark.parametrize("age", [None, "", 51.5, "x"])
def test_a_null_and_what_is_not_there_match_nothing(pacas: Any, folder: Path, age: Any) -> None:
    asked = ask(folder, med("male", age, level=1))
    assert pacas(*QUOTE, *asked, "--json").document == {"quotes": [{"refused": "no_match"}]}


def test_columns_that_the_match_does_not_need_stay_with_the_client(pacas: Any, folder: Path) -> None:
    request = {"tuple": {"GEN": "male", "AGE": "51", "MED": ["odd"]}, "attribute": "MED", "level": 1}
    assert pacas(*QUOTE, *ask(folder, request), "--json").document == {"quotes": [{"price": 0.7}]}


def test_requests_for_several_attributes_keep_their_order(pacas: Any, folder: Path) -> None:
    toml = (folder / "provider.toml").read_text()
    toml = toml.replace("[match] ", 'DIAG = { build = "prefix" }\n[match]\nDIAG = "ID = ID"\n#', 1)
    (folder / "provider.toml").write_text(toml)
    diagnosis = {"tuple": {"ID": "m1"}, "attribute": "DIAG", "level": 0}
    asked = ask(folder, diagnosis, med("male", "51", level=1), diagnosis, med("male", "51", level=2))
    first, second, third, fourth = pacas(*QUOTE, *asked, "--json").document["quotes"]
    assert first == third
    assert first["price"] > 0
    assert second["price"] > fourth["price"] > 0


def test_any_generalized_query_has_a_price(pacas: Any) -> None:
    query = ("--select", "MED:2", "--where", "AGE > 60")
    assert pacas(*QUOTE, *query, "--json").document == {"quotes": [{"price": 1.2}]}
    assert pacas(*QUOTE, *query).lines == ["1.2 credits"]
    query = ("--select", "MED:1", "--where", "DIAG = migraine")
    assert pacas(*QUOTE, *query, "--json").document == {"quotes": [{"refused": "unsafe"}]}
    assert pacas(*QUOTE, *query).lines == ["unsafe (refused)"]


def test_a_join_has_a_price(pacas: Any, folder: Path) -> None:
    (folder / "more.csv").write_text("DRUG,MAKER\nibuprofen,p\ndolex,q\n")
    with (folder / "provider.toml").open("a") as file:
        file.write('[relations.more]\ndata = "more.csv"\n')
    query = ("--select", "MAKER", "--from", "relation join more m on MED = m.DRUG", "--where", "ID = m1")
    assert pacas(*QUOTE, *query, "--json").document == {"quotes": [{"refused": "unsafe"}]}
    assert pacas(*QUOTE, "--select", "MAKER", "--from", "more", "--json").document == {"quotes": [{"price": 0.0}]}


@pytest.mark.parametrize(
    "pricing",
    [
        "support = { size = 90, seed = 7 }",
        "support = { per_cell = 4, mix = { update = 0.5, swap = 0.25, delete = 0.25 }, seed = 7 }",
        "support = { per_cell = 12, mix = { update = 0.5, insert = 0.5 }, seed = 3 }",
        "total = 123456.123456789\nseed = 7",
        'history = "per_buyer"',
    ],
)
def test_every_way_of_pricing_gives_a_provider_that_holds(pacas: Any, folder: Path, pricing: str) -> None:
    head, _, _ = (folder / "provider.toml").read_text().partition("[pricing]")
    top, below = (f"{pricing}\n", "seed = 7") if pricing.startswith("history") else ("", pricing)
    (folder / "provider.toml").write_text(f"{top}{head}[pricing]\n{below}\n")
    assert pacas("buy", "provider.toml", "--requests", "requests.jsonl").code == 0
    audited = pacas("audit", "provider.toml", "--json")
    assert audited.code == 0
    assert audited.document["total"] == (123456.123456789 if "total" in pricing else 1)
    (buyer,) = audited.document["buyers"]
    assert buyer["spent"] == buyer["due"] > 0


def test_sensitive_values_cost_more_and_price_points_are_met(pacas: Any, folder: Path) -> None:
    head, _, _ = (folder / "provider.toml").read_text().partition("[pricing]")
    head = head.replace("[[policy]]", 'DIAG = "ID = ID"\n[[policy]]')
    diagnosis = {"tuple": {"ID": "m3"}, "attribute": "DIAG", "level": 0}
    asked = ask(folder, diagnosis, med("male", "51", level=1))
    prices = {}
    for name, pricing in {"even": "", "odd": "sensitivity = { DIAG = 2.5 }"}.items():
        (folder / f"{name}.toml").write_text(f'{head}[pricing]\nquotes = "paper"\n{pricing}\n')
        quoted = pacas("quote", f"{name}.toml", *asked, "--json").document["quotes"]
        prices[name] = quoted[0]["price"] / quoted[1]["price"]
    assert prices["odd"] == pytest.approx(2.5 * prices["even"])
    point = '[[pricing.points]]\nselect = "ID, MED:1"\nprice = 0.123\n'
    (folder / "points.toml").write_text(head.replace("k = 3", "k = 1") + point)
    (quoted,) = pacas("quote", "points.toml", "--select", "ID, MED:1", "--json").document["quotes"]
    assert quoted["price"] == pytest.approx(0.123, abs=1e-6)


def test_quoting_writes_the_opening_once_and_nothing_more(pacas: Any, folder: Path) -> None:
    for _ in range(2):
        pacas(*QUOTE, "--requests", "ladders.jsonl")
    ledger = SqliteLedger(folder / "provider.ledger.db")
    (opening,) = ledger.entries()
    ledger.close()
    assert opening.previous == GENESIS


def test_prices_are_the_same_in_the_next_run_although_the_seed_is_a_secret(pacas: Any, folder: Path) -> None:
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text("\n".join(line for line in text.splitlines() if "seed" not in line))
    query = (*QUOTE, "--select", "MED:1", "--where", "AGE > 60", "--json")
    assert pacas(*query).document == pacas(*query).document


def test_a_buyer_s_price_follows_the_buyer_s_own_purchases(pacas: Any, folder: Path) -> None:
    pacas("buy", "provider.toml", *ask(folder, med("male", "51", level=2)), "--as", "ann")
    asked = ask(folder, med("male", "51", level=1))
    assert pacas(*QUOTE, *asked, "--as", "ann", "--json").document == {"quotes": [{"price": 0.3}]}
    assert pacas(*QUOTE, *asked, "--as", "bob", "--json").document == {"quotes": [{"price": 0.7}]}


# ---- bad requests ------------------------------------------------------------------------------------------------

GOOD = med("male", "51", level=1)
BAD_LINES: dict[str, tuple[Any, str]] = {
    "not JSON": ('{"tuple": ', "not JSON (expecting value, column 11)"),
    "two on a line": ("{} {}", "not JSON (extra data, column 4)"),
    "a list": ([1], "a request is one object"),
    "unknown key": (med("male", "51", levle=1), "unknown key 'levle'; did you mean 'level'?"),
    "no tuple": ({"attribute": "MED"}, '"tuple" is missing'),
    "no attribute": ({"tuple": {}}, '"attribute" is missing'),
    "the tuple a list": ({"tuple": [], "attribute": "MED"}, '"tuple" must be an object'),
    "the attribute a number": ({"tuple": {}, "attribute": 3}, '"attribute" must be the name'),
    "an attribute that is not sold": ({"tuple": {}, "attribute": "DIAG"}, "'DIAG' is not for sale; there is MED"),
    "an attribute nearly sold": ({"tuple": {}, "attribute": "Med"}, "did you mean 'MED'?"),
    "a level of text": (med("male", "51", level="1"), '"level" must be a whole number'),
    "a level of null": (med("male", "51", level=None), '"level" must be a whole number'),
    "a level of true": (med("male", "51", level=True), '"level" must be a whole number'),
    "a level with decimals": (med("male", "51", level=1.5), '"level" must be a whole number'),
    "a level below ground": (med("male", "51", level=-1), "no level -1 in the hierarchy of 'MED'"),
    "a level above the root": (med("male", "51", level=4), "its levels are 0 (ground) to 3 (the root)"),
    "a match column lacking": (
        {"tuple": {"GEN": "male", "Age": 51}, "attribute": "MED"},
        "the tuple lacks 'AGE', by which MED is found; did you mean 'Age'?",
    ),
    "a value of true": (med("male", True), "the value of 'AGE' must be a text, a number or null"),
    "a value of a list": (med("male", [51]), "the value of 'AGE' must be a text, a number or null"),
    "a value that is no number": ('{"tuple": {"GEN": NaN}, "attribute": "MED"}', "NaN is no JSON value"),
    "a huge number": ('{"tuple": {"GEN": 1, "AGE": 1e999}, "attribute": "MED"}', "the value of 'AGE' must be"),
    "half a character": (med("male", "\ud800"), "half of a surrogate pair"),
    "a key twice": ('{"tuple": {"GEN": 1, "GEN": 2}, "attribute": "MED"}', "a key stands twice"),
    "a key of a number": (med("male", "51", key=3), '"key" must be a text'),
    "a key that is empty": (med("male", "51", key=""), "an idempotency key must be 1 to 256"),
    "nested too deeply": ("[" * 100_000, "nested too deeply"),
    "too many digits": ('{"tuple": ' + "9" * 5_000 + "}", "a number that is too long"),
}


@pytest.mark.parametrize("command", ["quote", "buy"])
@pytest.mark.parametrize(("line", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_request_is_named_by_its_line(pacas: Any, folder: Path, command: str, line: Any, said: str) -> None:
    complaint = pacas(command, "provider.toml", *ask(folder, GOOD, line)).complaint
    assert complaint.startswith("r.jsonl, line 2: ")
    assert said in complaint


def test_bytes_that_are_not_text(pacas: Any, folder: Path) -> None:
    (folder / "r.jsonl").write_bytes(b"\xff\n")
    assert "line 1: bytes that are not UTF-8" in pacas(*QUOTE, "--requests", "r.jsonl").complaint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing is asked; give --requests FILE, or --select"),
        (("--requests", "requests.jsonl", "--select", "MED"), "two questions"),
        (("--requests", "requests.jsonl", "--where", "A = 1"), "--where and --from go with --select"),
        (("--requests", "none.jsonl"), "none.jsonl cannot be read (No such file or directory)"),
        (("--requests", "."), "cannot be read"),
        (("--requests", "requests.jsonl", "--as", ""), "a buyer must be 1 to 256 printable characters"),
        (("--requests", "requests.jsonl", "--as", "a\nb"), "a buyer must be 1 to 256 printable characters"),
        (("--select", "MED:4"), "no level 4 in the hierarchy of 'MED'"),
        (("--select", "MED", "--from", "relations"), "did you mean 'relation'?"),
        (("--select", "MEDS"), "did you mean 'MED'?"),
    ],
)
def test_a_question_that_makes_no_sense(pacas: Any, options: tuple[str, ...], said: str) -> None:
    assert said in pacas(*QUOTE, *options).complaint


def test_an_audit_is_for_who_has_the_file(pacas: Any) -> None:
    assert "give its provider.toml, not a URL" in pacas("audit", "https://example.org").complaint


@pytest.mark.parametrize("command", ["quote", "buy"])
@pytest.mark.parametrize(
    ("provider", "options", "said"),
    [
        ("https://127.0.0.1:1", ("--as", "ann"), "--as is for a provider's file"),
        ("https://127.0.0.1:1", ("--cert", "a.pem"), "--cert and --cert-key go together"),
        ("https://127.0.0.1:1", ("--ca", "none.pem"), "none.pem holds no certificates of an authority"),
        ("http://example.org", (), "give its https:// address"),
        ("ftp://example.org", (), "is no URL of a provider"),
        ("https://", (), "is no URL of a provider"),
        ("https://ann:secret@example.org", (), "holds no name and no password"),
        ("provider.toml", ("--ca", "none.pem"), "--ca goes with a provider at a URL"),
        ("provider.toml", ("--insecure",), "--insecure goes with a provider at a URL"),
    ],
)
def test_a_url_and_a_file_have_options_of_their_own(
    pacas: Any, command: str, provider: str, options: tuple[str, ...], said: str
) -> None:
    complaint = pacas(command, provider, "--requests", "requests.jsonl", *options).complaint
    assert said in complaint
    assert "secret" not in complaint


def test_only_single_values_are_asked_for_at_a_url(pacas: Any) -> None:
    assert "sells single values only" in pacas("quote", "https://127.0.0.1:1", "--select", "MED:1").complaint
