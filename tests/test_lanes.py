"""`make test` leaves out the slow kinds of tests and nothing else that shows that the code is right."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from lanes import COLLECTED, KINDS, many_examples, share
from together import group

TESTS = Path(__file__).parent
MAKEFILE = (TESTS.parent / "Makefile").read_text("utf-8")
CASES = {
    "contracts/test_engine.py": {"duckdb", "spilling"},
    "contracts/test_changed.py": {"duckdb", "spilling"},
    "contracts/test_folder.py": {"duckdb"},
    "contracts/test_index.py": {"duckdb"},
    "contracts/test_units.py": {"duckdb"},
    "contracts/test_ledger.py": {"sqlite"},
    "contracts/test_accounts.py": {"sqlite"},
}
"""Beside each case of a contract on Spark or PostgreSQL there are these in the fast lane."""


def variable(name: str) -> str:
    found = re.search(rf"^{name} := (.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return found[1]


def pytest_arguments(target: str) -> list[str]:
    """What a target of the Makefile gives to pytest."""
    found = re.search(rf"^{target}:.*\n(?:\t.*\n)*?\t\$\(PYTEST\) (.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return shlex.split(found[1].replace("$(FAST)", variable("FAST")))


def is_fast(marks: set[str]) -> bool:
    """What the lane's own expression says of a test with these marks."""
    return bool(eval(variable("FAST"), {}, {kind: kind in marks for kind in KINDS}))


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> dict[str, bool]:
    """All tests, and whether they are in the fast lane."""
    if request.config.args != request.config.getini("testpaths"):
        pytest.skip("a choice of tests was asked for; it takes all of them to see what is left out")
    return {name: is_fast(marks) for name, marks in request.config.stash[COLLECTED].items()}


def test_the_fast_lane_leaves_out_every_slow_kind_and_the_other_runs_everything() -> None:
    assert pytest_arguments("test") == ["-m", variable("FAST"), "--hypothesis-profile", "fast", "$(ARGS)"]
    assert pytest_arguments("check") == pytest_arguments("test")
    assert pytest_arguments("test-all") == ["$(ARGS)"]
    assert is_fast(set())
    assert not any(is_fast({kind}) for kind in KINDS)


def test_each_lane_tries_its_share_of_the_examples(request: pytest.FixtureRequest) -> None:
    asked = request.config.getoption("--hypothesis-profile")
    assert share(100) == {"fast": 12, None: 60, "thorough": 100}[asked]
    assert [share(number) for number in (0, 1, 12)] == {"fast": [0, 1, 2], None: [0, 1, 8], "thorough": [0, 1, 12]}[
        asked
    ]
    many = {"fast": 12, None: 200, "thorough": 200}[asked]
    assert many_examples(200).max_examples == many


def test_every_contract_is_in_the_fast_lane_on_duckdb_and_sqlite(collected: dict[str, bool]) -> None:
    cases: dict[str, dict[str, bool]] = {}
    for name, fast in collected.items():
        test, _, case = name.partition("[")
        cases.setdefault(test, {})[case.rstrip("]")] = fast
    for file, needed in CASES.items():
        of_all = {test: of for test, of in cases.items() if test.startswith(f"tests/{file}::") and any(map(dear, of))}
        of_all = {test: of for test, of in of_all.items() if "killed" not in test}
        assert of_all, file
        for test, of in of_all.items():
            for word in needed:
                assert any(fast for case, fast in of.items() if re.search(rf"\b{word}\b", case)), (test, word)


def dear(case: str) -> bool:
    return re.search(r"(?<![a-z])(spark|postgres)(?![a-z])", case) is not None


def test_every_oracle_property_and_example_of_the_paper_is_in_the_fast_lane(collected: dict[str, bool]) -> None:
    shown = [*TESTS.glob("properties/test_*.py"), *TESTS.glob("paper/test_*.py"), *TESTS.glob("contracts/test_*.py")]
    shown += [file for file in TESTS.rglob("test_*.py") if re.search(r"^from oracles", file.read_text(), re.MULTILINE)]
    for file in set(shown):
        of = {name: fast for name, fast in collected.items() if name.startswith(f"{file.relative_to(TESTS.parent)}::")}
        assert any(of.values()), file
        left_out = [
            name for name, fast in of.items() if not (fast or dear(name) or "killed" in name or "adult" in name)
        ]
        assert left_out == []


def test_most_tests_are_in_the_fast_lane(collected: dict[str, bool]) -> None:
    assert sum(collected.values()) > 0.85 * len(collected)
    ours = [name for name, fast in collected.items() if fast and re.match("tests/(contracts|browser|faults)/", name)]
    assert not [name for name in ours if dear(name) or not name.startswith("tests/contracts/")]


def test_one_process_runs_what_shares_something() -> None:
    assert (
        group("tests/contracts/test_engine.py::test_a[spark]") == group("tests/engine/test_spark.py::test_b") == "spark"
    )
    shared = ["experiments/test_claims.py", "browser/test_pages_in_browser.py", "contracts/test_engine.py"]
    assert [group(f"tests/{file}::test_c[x]") for file in shared] == [f"tests/{file}" for file in shared]
    alone = "tests/properties/test_provider_agrees.py::test_d", "src/pacas/core/words.py::pacas.core.words.counted"
    assert tuple(map(group, alone)) == alone
