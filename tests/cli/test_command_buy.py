"""`pacas buy`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pacas.errors import StorageError
from pacas.provider.ledger.chain import Total
from pacas.storage.sqlite.ledger import SqliteLedger

BUY = ("buy", "provider.toml", "--requests", "r.jsonl")


def ask(folder: Path, *lines: dict[str, Any]) -> None:
    (folder / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def med(gender: str, age: str, level: int | None, **more: Any) -> dict[str, Any]:
    at = {} if level is None else {"level": level}
    return {"tuple": {"GEN": gender, "AGE": age}, "attribute": "MED", **at, **more}


def totals(folder: Path) -> dict[str, Total]:
    ledger = SqliteLedger(folder / "provider.ledger.db")
    found = ledger.totals()
    ledger.close()
    return found


def test_the_json_has_the_promised_shape(pacas: Any, folder: Path) -> None:
    result = pacas("buy", "provider.toml", "--requests", "requests.jsonl", "--json")
    assert result.code == 0
    assert result.document == {
        "purchases": [
            {"price": 0.7, "answer": "NSAID"},
            {"price": 0.4, "answer": "analgesic"},
            {"refused": "unsafe"},
            {"refused": "no_match"},
        ],
        "spent": 1.1,
    }
    assert totals(folder) == {"local": Total(2, 1_100_000_000)}


def test_for_people_it_prints_what_was_bought(pacas: Any) -> None:
    assert pacas("buy", "provider.toml", "--requests", "requests.jsonl", "--as", "ann").lines == [
        "request  attribute  level     price  answer",
        "      1  MED            1       0.7  NSAID",
        "      2  MED            2       0.4  analgesic",
        "      3  MED            1    unsafe",
        "      4  MED            1  no_match",
        "2 bought for 1.1 credits; 2 refused",
    ]


def test_what_would_match_in_another_spelling_is_told(pacas: Any, folder: Path) -> None:
    ask(folder, med("MALE", "51", 1), med("male", "99", 1))
    assert pacas(*BUY, "--json").document["would_match"] == [{"attribute": "MED", "found": 1, "tried": 2}]
    assert pacas(*BUY).err.startswith("pacas: MED: no_match: at least 1 of 2 tried would match")


def test_what_was_bought_is_told_where_nothing_else_is(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StorageError("away")

    monkeypatch.setattr("pacas.cli.market.buy.found_otherwise", away)
    ask(folder, med("male", "51", 1), med("MALE", "51", 1))
    assert pacas(*BUY, "--json").document["purchases"] == [{"price": 0.7, "answer": "NSAID"}, {"refused": "no_match"}]


def test_what_was_bought_costs_nothing_again_and_for_others_what_it_did(pacas: Any, folder: Path) -> None:
    ask(folder, med("male", "51", 1), med("male", "51", 1), med("male", "51", 2))
    bought = pacas(*BUY, "--as", "ann", "--json").document["purchases"]
    assert [one["price"] for one in bought] == [0.7, 0, 0]
    assert pacas(*BUY, "--as", "ann", "--json").document["spent"] == 0
    assert pacas(*BUY, "--as", "bob", "--json").document["spent"] == 0.7


def test_a_price_above_the_ceiling_is_refused_and_costs_nothing(pacas: Any, folder: Path) -> None:
    ask(folder, med("male", "51", 1), med("male", "51", 2), med("male", "51", 1))
    bought = pacas(*BUY, "--ceiling", "0.4", "--json").document
    first, second, third = bought["purchases"]
    assert first == {"refused": "ceiling"}
    assert second == {"price": 0.4, "answer": "analgesic"}
    assert third == {"price": 0.3, "answer": "NSAID"}, "what is left of it costs less"
    assert bought["spent"] == 0.7


def test_a_key_is_charged_once_and_gives_the_same_answer_again(pacas: Any, folder: Path) -> None:
    ask(folder, med("male", "51", 1, key="a"))
    for _ in range(2):
        assert pacas(*BUY, "--json").document["purchases"] == [{"price": 0.7, "answer": "NSAID"}]
    assert totals(folder) == {"local": Total(1, 700_000_000)}


def test_a_key_for_another_request_is_named_before_anything_is_bought(pacas: Any, folder: Path) -> None:
    ask(folder, med("male", "51", 1, key="a"))
    pacas(*BUY)
    ask(folder, med("female", "45", 2), med("male", "51", 2, key="a"))
    assert pacas(*BUY).complaint == (
        "r.jsonl, line 2: the idempotency key was used before, for another request (entry 1); give a new one"
    )
    ask(folder, med("female", "45", 2, key="b"), med("female", "45", 2, key="b"), med("male", "51", 2, key="b"))
    assert "line 3: the key of line 1, for another request" in pacas(*BUY).complaint
    assert totals(folder) == {"local": Total(1, 700_000_000)}


def test_a_bad_line_at_the_end_leaves_no_purchase_behind(pacas: Any, folder: Path) -> None:
    ask(folder, med("male", "51", 1), med("female", "45", 2), med("male", "51", 9))
    assert "line 3: no level 9" in pacas(*BUY).complaint
    ask(folder, med("male", "51", 1), med("male", "51", None))
    assert 'line 2: "level" is missing; say at which level to buy' in pacas(*BUY).complaint
    assert totals(folder) == {}


@pytest.mark.parametrize(
    ("ceiling", "said"),
    [
        ("much", "--ceiling must be a number of credits"),
        ("nan", "--ceiling must be a finite number"),
        ("-1", "--ceiling must not be negative"),
        ("0.0000000001", "--ceiling has at most nine decimals"),
    ],
)
def test_a_ceiling_that_is_none(pacas: Any, folder: Path, ceiling: str, said: str) -> None:
    ask(folder, med("male", "51", 1))
    assert said in pacas(*BUY, f"--ceiling={ceiling}").complaint


def test_a_fault_in_the_middle_says_what_was_bought(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(folder, med("male", "51", 1), med("female", "45", 2))
    append = SqliteLedger.append

    def full_after_the_first(ledger: SqliteLedger, purchase: Any, **options: Any) -> Any:
        if ledger.head().entries == 2:
            raise StorageError("the disk is full")
        return append(ledger, purchase, **options)

    monkeypatch.setattr(SqliteLedger, "append", full_after_the_first)
    assert pacas(*BUY).complaint == (
        "r.jsonl, line 2: the disk is full; 1 before it were bought, and cost nothing if asked again"
    )
    assert totals(folder) == {"local": Total(1, 700_000_000)}
