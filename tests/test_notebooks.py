"""Results in notebooks: a little HTML without script, escaped and short; and the example runs in Jupyter as it is."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import pacas
from pacas import example
from pacas.provider.audit import audit

NOTEBOOK = Path(__file__).parents[1] / "examples" / "clean_in_a_notebook.ipynb"
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
MANY = 3_000
LONGEST = 20_000
"""Characters of HTML, however large what is shown."""


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """One of each, made of names and values that would like to be HTML, many and long."""
    column = f"V{NASTY}".replace('"', "")
    tree = pacas.Hierarchy.from_rows([(f"{n}{NASTY}{'y' * 200}", f"family {n % 40} {NASTY}", "*") for n in range(MANY)])
    values = [f"{n}{NASTY}{'y' * 200}" for n in range(MANY)]
    curated = {"K": [f"k{n}" for n in range(MANY)], column: values}
    dirty = {"K": [f"k{n // 2}" for n in range(MANY)], column: values}
    policy = pacas.Policy(("K",), (column,), {column: 0}, 1)
    provider = pacas.Provider(
        curated, hierarchies={column: tree}, match={column: "K = K"}, policies=[policy], quotes="sealed", total=9
    )
    fd = f'K -> "{column}"'
    return {
        "Hierarchy": tree,
        "Check": pacas.check(dirty, [fd], {column: tree}),
        "Ladders": provider.quote_batch(column, {"K": curated["K"]}),
        "Quote": provider.quote(pacas.Request({"K": "k1"}, column, 2)),
        "Refusal": provider.quote(pacas.Request({"K": NASTY}, column, 0)),
        "Cleaning": pacas.SafeClean(fd, 0, hierarchies={column: tree}).clean(dirty, provider),
        "Audit": audit(provider),
    }


NAMES = ("Audit", "Check", "Cleaning", "Hierarchy", "Ladders", "Quote", "Refusal")


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_it_is_shown_short_and_escaped_and_runs_nothing(name: str, shown: dict[str, Any]) -> None:
    html = shown[name]._repr_html_()
    assert type(shown[name]).__name__ == name
    page = Tags(html)
    assert page.open == [], "every tag that is opened is closed"
    assert not page.tags & {"script", "img", "style", "svg", "iframe", "link"}
    assert page.attributes <= {"style", "scope", "open"}
    assert len(html) < LONGEST


def test_a_hierarchy_unfolds_from_its_root(shown: dict[str, Any]) -> None:
    html = example.med._repr_html_()
    labels = [re.sub(r" \(\d+\)$", "", text) for text in re.findall(r"<(?:li|summary)>([^<]+)<", html)]
    assert sorted(labels) == sorted(label for label in example.med.labels if label is not None)
    assert html.count("<details open>") == 1
    assert "28 more" in shown["Hierarchy"]._repr_html_()


def test_a_check_has_a_line_a_dependency_and_quotes_have_one_a_tuple(shown: dict[str, Any]) -> None:
    assert "1,500" in shown["Check"]._repr_html_()
    html = shown["Ladders"]._repr_html_()
    assert html.count("<tr>") == 21 and "the first 20 of 3,000" in html
    assert "price" in shown["Quote"]._repr_html_() and "no_match" in shown["Refusal"]._repr_html_()


def test_an_audit_shows_no_value_of_the_provider(shown: dict[str, Any]) -> None:
    html = shown["Audit"]._repr_html_()
    assert "Audit: holds" in html and "policy 1" in html and "yyyy" not in html


# ---- real notebooks ------------------------------------------------------------------------------------------------


def code_cells() -> list[str]:
    document = json.loads(NOTEBOOK.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def test_the_example_runs_and_ends_in_the_repaired_table() -> None:
    names: dict[str, Any] = {}
    last: Any = None
    for source in code_cells():
        tree = ast.parse(source)
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr), "each cell shows something"
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        last = eval(compile(ast.Expression(expression.value), NOTEBOOK.name, "eval"), names)
        assert hasattr(last, "_repr_html_")
    assert list(last["occupation"]) == ["nurse", "nurse", "nurse", "pilot", "driver", "driver"]
    assert not any(cell.get("outputs") for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"])


@pytest.mark.slow
def test_the_example_runs_in_jupyter() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert all(len(found) == 1 and "text/html" in found[0].data for found in outputs)
    assert "<summary>transport (2)</summary>" in outputs[0][0].data["text/html"]
    assert "level 2" in outputs[3][0].data["text/html"]
    assert "violations" in outputs[4][0].data["text/html"]


@pytest.mark.slow
def test_marimo_shows_the_same() -> None:
    """In a process of its own: marimo looks at what else is loaded, and what other tests load is no notebook's."""
    pytest.importorskip("marimo", reason="marimo is not installed")
    told = subprocess.run([sys.executable, "-c", IN_MARIMO], capture_output=True, text=True, timeout=300)
    assert (told.stdout.strip(), told.returncode) == ("7 shown", 0), told.stderr


IN_MARIMO = """
import marimo, pacas
from pacas import example
from pacas.provider.audit import audit

provider = pacas.Provider(
    example.provider, hierarchies={"MED": example.med}, match={"MED": "GEN = GEN, AGE = AGE"}, policies=[], total=9
)
fd, asked = "GEN, DIAG -> MED", {"GEN": "male", "AGE": "51"}
things = [
    example.med,
    pacas.check(example.client, [fd], {"MED": example.med}),
    provider.quote_batch("MED", {name: [value] for name, value in asked.items()}),
    provider.quote(pacas.Request(asked, "MED", 1)),
    provider.quote(pacas.Request(asked | {"AGE": "1"}, "MED", 1)),
    pacas.SafeClean(fd, 0, hierarchies={"MED": example.med}).clean(example.client, provider),
    audit(provider),
]
for thing in things:
    assert thing._repr_html_() in marimo.as_html(thing).text, type(thing)
print(len(things), "shown")
"""
