"""`import pacas`: what it offers is what `__all__` lists, and each name says what it is."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pacas
from pacas import example

NEEDS_PYSPARK = {"SparkEngine"}
"""Offered and not listed: `from pacas import *` must not need what is not installed."""


def python(script: str) -> str:
    """What a script prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_exported_is_what_is_listed() -> None:
    stub = ast.parse(Path(pacas.__file__).with_suffix(".pyi").read_text("utf-8"))
    offered = [alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(offered) == sorted({*pacas.__all__, *NEEDS_PYSPARK})


def test_what_is_listed_is_seen_and_comes_with_a_star() -> None:
    assert set(pacas.__all__) <= set(dir(pacas))
    starred: dict[str, object] = {}
    exec("from pacas import *", starred)
    assert {name: getattr(pacas, name) for name in pacas.__all__} == {n: starred[n] for n in pacas.__all__}


def test_what_is_not_offered_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'pacas' has no attribute 'Nothing'"):
        pacas.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_a_room_is_found_beside_the_names() -> None:
    assert python("from pacas import example; print(example.__name__)") == "pacas.example"
    assert python("import pacas; print(pacas.errors.PacasError.__name__)") == "PacasError"


def test_the_front_door_has_nothing_of_its_own_but_the_loading() -> None:
    body = ast.parse(Path(pacas.__file__).read_text("utf-8")).body
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    assigned = [target.id for node in body if isinstance(node, ast.Assign) for target in node.targets]  # type: ignore[attr-defined]
    assert (functions, assigned) == (["__getattr__", "__dir__"], ["_STUB", "_HOMES", "__all__"])


def test_the_list_is_sorted_and_has_no_name_twice() -> None:
    assert pacas.__all__ == sorted(set(pacas.__all__))


@pytest.mark.parametrize("name", pacas.__all__)
def test_each_name_has_a_docstring_of_its_own(name: str) -> None:
    value = getattr(pacas, name)
    own = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    assert own and own.strip()
    assert not own.startswith(f"{name}("), "a dataclass's signature is no docstring"


@pytest.mark.parametrize("name", pacas.__all__)
def test_each_name_is_one_of_ours(name: str) -> None:
    assert getattr(pacas, name).__module__.startswith("pacas.")


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    script = "import sys, pacas; print(*(name for name in sys.modules if name.startswith('pacas')))"
    assert python(script) == "pacas"


def test_what_takes_long_to_load_is_loaded_when_it_is_used() -> None:
    slow = ("cryptography", "fastapi", "httpx", "matplotlib", "pandas", "starlette", "typer", "uvicorn")
    assert python(f"import sys; from pacas import *; print([name for name in {slow} if name in sys.modules])") == "[]"


def test_a_cleaning_is_scored_explained_and_reported_with_what_is_offered(tmp_path: Path) -> None:
    provider = pacas.Provider(
        example.provider, hierarchies=example.hierarchies, match={"MED": "GEN = GEN, AGE = AGE"}, total=6, seed=7
    )
    result = pacas.SafeClean(["GEN, DIAG -> MED"], budget=6).clean(example.client, provider)
    assert isinstance(result, pacas.Cleaning)
    score = result.score(example.client)
    assert isinstance(score, pacas.Score)
    explanation = pacas.explain(result, 1, "MED")
    assert isinstance(explanation, pacas.Explanation)
    assert "'intropes' was given" in str(explanation)
    pacas.write_report(tmp_path / "report.html", result, score=score)
    assert "Against the truth" in (tmp_path / "report.html").read_text("utf-8")
