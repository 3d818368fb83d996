"""Who may import whom: the map of the rooms, outermost first, is the trust boundary between the two parties."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "pacas"

FRONT_DOOR = "pacas"
"""`pacas/__init__.py`: what users import; rooms that experiments and commands stand in may use it as users do."""

ROOMS: tuple[tuple[str, ...], ...] = (
    ("cli",),
    ("experiments",),
    (FRONT_DOOR,),
    ("server", "remote"),
    ("wire",),
    ("storage", "formats"),
    ("provider", "client"),
    ("engine",),
    ("protocol",),
    ("example",),
    ("core",),
    ("errors",),
)
"""A room may import from the lines below its own. `example` is further narrowed below."""

ONLY_FOR = {"example": ("cli", "experiments")}
"""The running example is shown, never built upon."""

DEPTH = {room: line for line, rooms in enumerate(ROOMS) for room in rooms}


class Module(NamedTuple):
    """A module by its dotted name; a package's `__init__` is the package itself."""

    name: str
    is_package: bool = False

    @property
    def room(self) -> str:
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else FRONT_DOOR

    @property
    def package(self) -> list[str]:
        parts = self.name.split(".")
        return parts if self.is_package else parts[:-1]


class Import(NamedTuple):
    """One imported module of ours, and how it was written."""

    line: int
    room: str
    is_relative: bool
    is_hidden: bool


def complaints(module: Module, source: str) -> list[str]:
    """What is wrong with a module's imports."""
    if module.room not in DEPTH:
        return [f"{module.name}: the room {module.room!r} is not on the map"]
    return [
        f"{module.name}, line {found.line}: {problem}"
        for found in _imports(module, ast.parse(source))
        for problem in _problems(module, found)
    ]


def _problems(module: Module, found: Import) -> Iterator[str]:
    if found.is_hidden:
        yield f"an import of {found.room} hidden in a function"
    if found.room not in DEPTH:
        yield f"imports {found.room!r}, which is not on the map"
        return
    if found.room == module.room:
        return
    if found.is_relative:
        yield f"a relative import out of its room, into {found.room}"
    if DEPTH[found.room] <= DEPTH[module.room] or module.room not in ONLY_FOR.get(found.room, (module.room,)):
        yield f"{module.room} must not see {found.room}"


def _imports(module: Module, tree: ast.Module) -> Iterator[Import]:
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        for target, is_relative in _targets(module, node):
            parts = target.split(".")
            if parts[0] == "pacas":
                room = parts[1] if len(parts) > 1 else FRONT_DOOR
                yield Import(getattr(node, "lineno", 0), room, is_relative, id(node) in hidden)


def _targets(module: Module, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The dotted names that a statement imports, and whether it writes them relatively."""
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, False) for alias in names)
        case ast.ImportFrom(module=written, names=names, level=level):
            anchor = module.package[: len(module.package) - level + 1] if level else []
            base = ".".join([*anchor, *([written] if written else [])])
            if base == "pacas":  # `from pacas import example`: a room, or a name of the front door
                yield from (("pacas." + a.name if _is_room(a.name) else base, bool(level)) for a in names)
            else:
                yield base, bool(level)
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _called(function) in DYNAMIC:
            yield name, False


DYNAMIC = ("import_module", "__import__")


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_room(name: str) -> bool:
    return name in DEPTH or (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()


# ---- the code as it is -------------------------------------------------------------------------------------------


def modules() -> list[tuple[Module, Path]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["pacas", *path.relative_to(SOURCE).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        found.append((Module(".".join(parts[:-1] if is_package else parts), is_package), path))
    return found


def test_there_is_something_to_check() -> None:
    names = {module.name for module, _ in modules()}
    assert {"pacas", "pacas.errors", "pacas.example", "pacas.core", "pacas.core.hierarchy", "pacas.cli.main"} <= names


@pytest.mark.parametrize(("module", "path"), [pytest.param(m, p, id=m.name) for m, p in modules()])
def test_a_module_imports_only_what_its_room_may_see(module: Module, path: Path) -> None:
    assert complaints(module, path.read_text("utf-8")) == []


def front_door_logic(source: str) -> list[str]:
    """What a front door does besides re-exporting: everything but a docstring, imports and `__all__`."""
    strange = []
    for position, node in enumerate(ast.parse(source).body):
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if position == 0:
                pass
            case ast.ImportFrom():
                pass
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List()):
                pass
            case _:
                strange.append(f"line {node.lineno}: {ast.unparse(node)}")
    return strange


def test_the_front_door_only_re_exports() -> None:
    assert front_door_logic((SOURCE / "__init__.py").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "logic", ["x = 1", "import os", "def f(): ...", "if True:\n    from pacas.core import x", "f()"]
)
def test_logic_in_the_front_door_is_found(logic: str) -> None:
    assert len(front_door_logic(f'"""Docs."""\nfrom pacas.core import x\n__all__ = ["x"]\n{logic}\n')) == 1


# ---- the checker itself ------------------------------------------------------------------------------------------

CLIENT = Module("pacas.client.safe_clean")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (CLIENT, "from pacas.provider import Provider"),
        (CLIENT, "from pacas.provider.ledger.ledger import Ledger"),
        (CLIENT, "import pacas.provider"),
        (CLIENT, "import pacas.core, pacas.provider.pricing"),
        (CLIENT, "from pacas import provider"),
        (CLIENT, "if TYPE_CHECKING:\n    from pacas.provider import Provider"),
        (CLIENT, "try:\n    from pacas.provider import Provider\nexcept ImportError:\n    pass"),
        (CLIENT, "class A:\n    from pacas.provider import Provider"),
        (CLIENT, "provider = importlib.import_module('pacas.provider')"),
        (CLIENT, "provider = __import__('pacas.provider')"),
        (Module("pacas.provider.provider"), "from pacas.client.check import check"),
        (CLIENT, "from pacas.formats.relations.relations import scan_relation"),
        (CLIENT, "from pacas import Relation"),
        (CLIENT, "import pacas"),
        (CLIENT, "from pacas.example import med"),
        (CLIENT, "from pacas import example"),
        (Module("pacas.core.query"), "from pacas.engine.contract import Engine"),
        (Module("pacas.core.query"), "from pacas.protocol.messages import Quote"),
        (Module("pacas.errors"), "from pacas.core.relation import Relation"),
        (Module("pacas.example"), "from pacas.engine.duck.engine import DuckEngine"),
        (Module("pacas.example"), "from pacas.protocol.messages import Quote"),
        (Module("pacas.storage.memory"), "from pacas.formats.relations.relations import scan_relation"),
        (Module("pacas.experiments.plots"), "from pacas.cli.options import out"),
        (Module("pacas.server.app"), "from pacas.cli.options import out"),
        (Module("pacas", is_package=True), "from pacas.cli.main import run"),
    ],
)
def test_an_import_against_the_direction_is_found(module: Module, source: str) -> None:
    assert len(complaints(module, source)) == 1
    assert "must not see" in complaints(module, source)[0]


def test_a_client_may_not_see_the_provider_wherever_it_stands() -> None:
    for name in ("pacas.client", "pacas.client.check", "pacas.client.deep.down"):
        found = complaints(
            Module(name, is_package=name == "pacas.client"), "from pacas.provider.ledger.ledger import Ledger"
        )
        assert found == [f"{name}, line 1: client must not see provider"]


@pytest.mark.parametrize(
    "source",
    [
        "from ..provider import Provider",
        "from ..provider.ledger import Ledger",
        "from .. import provider",
        "from ..core.relation import Relation",
        "from .. import core",
    ],
)
def test_a_relative_import_out_of_the_room_is_found(source: str) -> None:
    assert any("relative import out of its room" in found for found in complaints(CLIENT, source))


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from pacas.core.relation import Relation",
        "async def f():\n    import pacas.core",
        "class A:\n    def f(self):\n        if True:\n            from .check import check",
        "def f():\n    def g():\n        from . import check",
        "def f():\n    return import_module('pacas.core')",
    ],
)
def test_an_import_hidden_in_a_function_is_found_even_if_the_direction_is_right(source: str) -> None:
    assert len(complaints(CLIENT, source)) == 1
    assert "hidden in a function" in complaints(CLIENT, source)[0]


@pytest.mark.parametrize("source", ["", "from pacas.core.relation import Relation"])
def test_a_room_that_is_not_on_the_map_is_found(source: str) -> None:
    assert complaints(Module("pacas.utils"), source) == ["pacas.utils: the room 'utils' is not on the map"]
    assert complaints(Module("pacas.helpers.text"), source) == [
        "pacas.helpers.text: the room 'helpers' is not on the map"
    ]


def test_an_import_of_a_room_that_is_not_on_the_map_is_found() -> None:
    assert complaints(CLIENT, "from pacas.utils import x") == [
        "pacas.client.safe_clean, line 1: imports 'utils', which is not on the map"
    ]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (CLIENT, "from pacas.core.relation import Relation\nfrom pacas.engine.contract import Engine"),
        (CLIENT, "from pacas.protocol.messages import Quote\nfrom pacas.errors import PacasError"),
        (CLIENT, "from .check import check\nfrom . import equivalence\nfrom pacas.client import check"),
        (Module("pacas.client", is_package=True), "from .check import check"),
        (
            Module("pacas.core.builders", is_package=True),
            "from .options import Option\nfrom ..hierarchy import Hierarchy",
        ),
        (Module("pacas.cli.demo"), "from pacas import example\nfrom pacas.provider.provider import Provider"),
        (Module("pacas.experiments.figure_1"), "import pacas\nfrom pacas import Relation"),
        (Module("pacas.cli.demo"), "from pacas.experiments.plots.plots import plot"),
        (Module("pacas.example"), "from pacas.core.relation import Relation\nfrom pacas.errors import PacasError"),
        (Module("pacas", is_package=True), "from pacas.remote.remote_provider import RemoteProvider"),
        (CLIENT, "import numpy\ndef f():\n    import scipy\n    import pacas_extras"),
    ],
)
def test_an_import_along_the_direction_is_fine(module: Module, source: str) -> None:
    assert complaints(module, source) == []
