"""What a test needs beyond Python, as marks, so that `make test` can leave the slow kinds out.

A mark follows from the fixtures that a test asks for; the cases of a parameter that ask for one only when they run
carry it themselves, and are stopped if they do not. How much Hypothesis tries is said here, too.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

KINDS = {
    "spark": "needs Java, on which Spark runs",
    "postgres": "needs a PostgreSQL",
    "browser": "needs Chromium",
    "data": "needs the real datasets",
    "faults": "kills processes, over and over",
    "slow": "takes seconds: whole evaluations, pages run from first to last, large tables",
}
NEEDS = {
    "spark_session": "spark",
    "killed_executors": "spark",
    "postgres_cluster": "postgres",
    "postgres_url": "postgres",
    "own_cluster": "postgres",
    "browser": "browser",
    "shared_data": "data",
    "launcher": "faults",
}
"""Fixtures, and what they need."""
COLLECTED = pytest.StashKey[dict[str, set[str]]]()
"""The marks of all tests, before any is left out."""

KILLS_PER_ATTACK = 20
"""Where so many kills of a server are asked for, each attack is made once."""

THOROUGH = 100
"""Examples of a property that asks for no other number: `make test-all ARGS="--hypothesis-profile thorough"`."""
FAST = 12
"""Examples in the fast lane."""
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=THOROUGH)
settings.register_profile("all", settings.get_profile("thorough"), max_examples=60)
settings.register_profile("fast", settings.get_profile("thorough"), max_examples=FAST)


def share(number: int) -> int:
    """So many where tests are thorough, else a part of them: an eighth in the fast lane."""
    return -(-number * settings().max_examples // THOROUGH)


def examples(number: int, **more: Any) -> settings:
    """So many examples of a property where tests are thorough, else a part of them."""
    return settings(max_examples=share(number), **more)


def many_examples(number: int, **more: Any) -> settings:
    """So many examples wherever all tests run; in the fast lane no more than of any other property."""
    ordinary = settings().max_examples
    return settings(max_examples=ordinary if ordinary == FAST else number, **more)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--faults", type=int, default=None, help="kills of a server per store; `make faults` has 200")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Where many faults are asked for, an attack is made over and over: what depends on timing shows in time."""
    faults: int | None = metafunc.config.getoption("--faults")
    if faults is not None and metafunc.definition.get_closest_marker("attack") is not None:
        metafunc.fixturenames.append("attempt")
        metafunc.parametrize("attempt", range(max(1, faults // KILLS_PER_ATTACK)))


@pytest.hookimpl(tryfirst=True)  # before Hypothesis loads the profile that is asked for
def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("all")
    for kind, told in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {told}")
    config.addinivalue_line("markers", "attack: by a hostile client, server or disk; `make faults` makes it many times")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for name in getattr(item, "fixturenames", ()):
            if name in NEEDS:
                item.add_marker(NEEDS[name])
    config.stash[COLLECTED] = {item.nodeid: {mark.name for mark in item.iter_markers()} for item in items}


_running: list[pytest.Item] = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _running[:] = [item]


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> None:
    kind = NEEDS.get(fixturedef.argname)
    if kind is not None and all(item.get_closest_marker(kind) is None for item in _running):
        pytest.fail(f"{_running[0].nodeid} asks for {fixturedef.argname}, and has no mark {kind}", pytrace=False)
