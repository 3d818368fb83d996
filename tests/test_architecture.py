"""Who may import whom. The map and the arrows are those of ARCHITECTURE.md, and the trust boundary between the parties.

A *place* is a room, a floor of a room, or a module that stands in a room beside its floors. An import is a statement,
wherever it stands; `import_module` with a module's name, absolute or relative; and a text that is the name of one of
our modules, by which something is loaded later.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pacas"
PAGE = ROOT / "ARCHITECTURE.md"

FRONT_DOOR = "pacas"
"""`pacas/__init__`: what users import. Rooms above it on the map may use it as users do."""


# ---- what ARCHITECTURE.md says -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """Places from the outermost to the innermost; those of one step never see each other."""

    steps: tuple[tuple[str, ...], ...]
    depth: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", {place: n for n, step in enumerate(self.steps) for place in step})

    @classmethod
    def parse(cls, line: str) -> Order:
        return cls(tuple(tuple(place.strip() for place in step.split("|")) for step in line.split("→")))

    def allows(self, place: str, other: str) -> bool:
        return place == other or self.depth[place] < self.depth[other]


@dataclass(frozen=True)
class Architecture:
    """The rooms in order, the places of each room that has floors, and who is blind to whom whatever the order says."""

    rooms: Order
    floors: Mapping[str, Order]
    blind: Mapping[str, frozenset[str]]
    only_for: Mapping[str, frozenset[str]]

    def problem(self, importer: str, imported: str) -> str | None:
        """Why a module must not import another one, both by their dotted names."""
        room, other = room_of(importer), room_of(imported)
        for name, known in ((importer, room), (imported, other)):
            if known not in self.rooms.depth:
                return f"{name} is in {known!r}, which is not on the map"
        for mine, theirs in product(_wholes(importer), _wholes(imported)):
            if theirs in self.blind.get(mine, ()):
                return f"{mine} must not see {theirs}"
        if room != other:
            seen = self.rooms.allows(room, other) and room in self.only_for.get(other, {room})
            return None if seen else f"{room} must not see {other}"
        if room not in self.floors:
            return None
        order, place, target = self.floors[room], place_of(importer), place_of(imported)
        if not place or not target:  # the room's own __init__, which says what the room is
            return None
        for found in (place, target):
            if found not in order.depth:
                return f"{room}/{found} is in no place of the arrows of {room}"
        return None if order.allows(place, target) else f"{room}/{place} must not see {room}/{target}"


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else FRONT_DOOR


def place_of(module: str) -> str:
    """The floor that a module is on, or the module itself where it stands in its room."""
    return "".join(module.split(".")[2:3])


def _wholes(module: str) -> tuple[str, str]:
    """The room that a module is in, and the place of the room."""
    return room_of(module), f"{room_of(module)}/{place_of(module)}"


def block(page: str, title: str) -> list[str]:
    """The lines of the fenced block that follows a title."""
    found = re.search(rf"^## {title}\n.*?^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found, f"ARCHITECTURE.md has no block under {title!r}"
    return found[1].splitlines()


def read_arrows(lines: Iterable[str]) -> Architecture:
    orders: dict[str, Order] = {}
    blind: dict[str, frozenset[str]] = {}
    only_for: dict[str, frozenset[str]] = {}
    for line in lines:
        name, _, rest = line.partition(":")
        if "never sees" in line:
            who, _, whom = line.partition(" never sees ")
            blind |= {one.strip(): frozenset(map(str.strip, whom.split(","))) for one in who.split(",")}
        elif "only for" in line:
            what, _, whom = line.partition(" only for ")
            only_for[what.strip()] = frozenset(map(str.strip, whom.split(",")))
        elif rest:
            orders[name.strip()] = Order.parse(rest)
    return Architecture(orders.pop("rooms"), orders, blind, only_for)


def read_map(lines: Iterable[str]) -> set[str]:
    """The modules that the map names, packages included: `room/  module module  # what it is`."""
    modules: set[str] = set()
    path: list[str] = []
    for line in lines:
        named, _, _ = line.partition("#")
        depth = (len(named) - len(named.lstrip())) // 2
        words = named.split()
        if words and words[0].endswith("/"):
            path = [*path[:depth], words.pop(0).rstrip("/")]
            modules.add(".".join(path))
        modules |= {".".join([*path, word]) for word in words}
    return modules


@cache
def architecture() -> Architecture:
    return read_arrows(block(PAGE.read_text("utf-8"), "Who may look at whom"))


# ---- what the code does --------------------------------------------------------------------------------------------


class Module(NamedTuple):
    """A module by its dotted name; a package's `__init__` is the package itself."""

    name: str
    is_package: bool = False

    @property
    def package(self) -> list[str]:
        parts = self.name.split(".")
        return parts if self.is_package else parts[:-1]


class Import(NamedTuple):
    """One module of ours that is imported, and how it is written."""

    line: int
    module: str
    is_hidden: bool
    is_relative: bool


@cache
def modules() -> dict[str, tuple[Module, Path]]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["pacas", *path.relative_to(SOURCE).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        module = Module(".".join(parts[:-1] if is_package else parts), is_package)
        stub = path.with_suffix(".pyi")  # what a package that loads late says it has
        found[module.name] = (module, stub if stub.exists() else path)
    return found


@cache
def imports(module: Module, source: str) -> tuple[Import, ...]:
    """The modules of ours that a module imports; a name that is taken from a package is looked up."""
    return tuple(_imports(module, source))


def _imports(module: Module, source: str) -> Iterator[Import]:
    tree = ast.parse(source)
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    loaders = {"import_module", "__import__"} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == "import_module" and alias.asname
    }
    for node in ast.walk(tree):
        is_statement = isinstance(node, ast.Import | ast.ImportFrom)
        if isinstance(node, ast.Call) and _called(node.func) in loaders:
            yield Import(node.lineno, _loaded(module, node), False, False)
        for target, is_relative in _targets(module, node):
            if target.split(".")[0] == "pacas":
                line = getattr(node, "lineno", 0)
                yield Import(line, target, is_statement and id(node) in hidden, is_statement and is_relative)


def _targets(module: Module, node: ast.AST) -> Iterator[tuple[str, bool]]:
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, False) for alias in names)
        case ast.ImportFrom(module=written, names=names, level=level):
            base = ".".join([*_anchor(module, level), *([written] if written else [])])
            for name in names:
                inner = f"{base}.{name.name}"
                is_module = inner in modules() or (base == "pacas" and name.name in architecture().rooms.depth)
                yield (inner if is_module else base), bool(level)
        case ast.Constant(value=str(name)) if name in modules() and "." in name:
            yield name, False


UNKNOWN = "pacas.?"
"""What a call loads whose argument does not say it."""
LOADED_BY_NAME = ("pacas", "pacas.cli.main", "pacas.storage.url")
"""Modules that may: they write the names out elsewhere, as texts, which count as imports."""


def _loaded(module: Module, call: ast.Call) -> str:
    """The module that `import_module` loads, by its name and, where that is relative, its package."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= dict(zip(("name", "package"), call.args, strict=False))
    match given.get("name"):
        case ast.Constant(value=str(name)):
            dots = len(name) - len(name.lstrip("."))
            match given.get("package"):
                case ast.Constant(value=str(package)) if dots:
                    module = Module(package, is_package=True)
            return ".".join([*_anchor(module, dots), name.lstrip(".")])
    return UNKNOWN


def _anchor(module: Module, level: int) -> list[str]:
    return module.package[: len(module.package) - level + 1] if level else []


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def complaints(module: Module, source: str) -> list[str]:
    """What is wrong with a module's imports."""
    found = []
    for one in imports(module, source):
        if one.module.split(".")[0] != "pacas":
            continue
        if one.module == UNKNOWN:
            if module.name not in LOADED_BY_NAME:
                found.append(f"{module.name}, line {one.line}: loads a module whose name is not written out")
            continue
        problems = [architecture().problem(module.name, one.module)]
        if one.is_hidden:
            problems.append(f"an import of {one.module} hidden in a function")
        if one.is_relative and one.module.split(".")[:2] != module.name.split(".")[:2]:
            problems.append("a relative import out of its room; write the whole name")
        found += [f"{module.name}, line {one.line}: {problem}" for problem in problems if problem]
    return found


# ---- the code as it is -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_imports_only_what_its_place_may_see(name: str) -> None:
    module, path = modules()[name]
    assert complaints(module, path.read_text("utf-8")) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    def edges(module: Module, path: Path) -> set[str]:
        found = {one.module for one in imports(module, path.read_text("utf-8"))}
        return {name for name in found if name in modules() and name != module.name}

    try:
        TopologicalSorter({name: edges(module, path) for name, (module, path) in modules().items()}).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_map_names_every_module_and_no_other() -> None:
    mapped = {f"pacas.{name}" for name in read_map(block(PAGE.read_text("utf-8"), "The rooms"))}
    there = set(modules()) - {FRONT_DOOR}
    assert (sorted(there - mapped), sorted(mapped - there)) == ([], [])


def test_every_room_with_floors_has_its_arrows() -> None:
    packages = {name for name, (module, _) in modules().items() if module.is_package}
    with_floors = {room_of(name) for name in packages if name.count(".") == 2}
    assert sorted(with_floors - set(architecture().floors)) == []


def test_a_class_name_exists_once() -> None:
    where: dict[str, list[str]] = {}
    for name, (_, path) in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(name)
    assert {name: found for name, found in where.items() if len(found) > 1} == {}


def test_what_a_client_imports_loads_nothing_of_a_provider() -> None:
    """In a fresh process: neither the provider's code, nor ledgers, nor the key that signs."""
    mine = [name for name in modules() if room_of(name) in ("client", "remote", "wire", "protocol")]
    program = (
        f"import sys\nfor name in {mine!r}: __import__(name)\nprint(*(n for n in sys.modules if n[:6] == 'pacas.'))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {room_of(name) for name in ran.stdout.split() if name.startswith("pacas.")}
    assert {"client", "remote", "wire"} <= loaded
    assert not loaded & {"provider", "storage", "server", "cli", "experiments"}


def test_no_test_module_imports_another() -> None:
    """What tests share is in a module of its own, such as those of `oracles/`."""
    imported = re.compile(r"^\s*(?:from|import) (?:\w+\.)*test_\w+", re.MULTILINE)
    paths = (ROOT / "tests").rglob("*.py")
    assert [path.name for path in paths if imported.search(path.read_text("utf-8"))] == []


def test_floors_are_one_level_deep() -> None:
    assert [name for name in modules() if name.count(".") > 3] == []


def front_door_logic(source: str) -> list[str]:
    """What a front door says besides re-exporting: everything but a docstring, imports and `__all__`."""
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
    stub = (SOURCE / "__init__.pyi").read_text("utf-8")  # what `__init__.py` loads when it is asked for
    assert front_door_logic(stub) == []
    assert complaints(Module("pacas", is_package=True), stub) == []


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
        (CLIENT, "def f():\n    return import_module('..provider', __package__)"),
        (CLIENT, "provider = __import__('pacas.server.app')"),
        (CLIENT, "LATER = {'x': 'pacas.provider.provider'}"),
        (CLIENT, "import_module(name='..provider.provider', package='pacas.client')"),
        (CLIENT, "from importlib import import_module as load\nload('..provider', __package__)"),
        (Module("pacas.server.limits"), "import pacas.remote.connection"),
        (Module("pacas.server.limits"), "from pacas.client.safe_clean import SafeClean"),
        (Module("pacas.storage.url"), "from pacas.client.safe_clean import SafeClean"),
        (Module("pacas.provider.quoter.quoter"), "from pacas.provider.column import Column"),
        (CLIENT, "from pacas.wire.shapes.quotes import Price"),
        (CLIENT, "from pacas.formats.relations.relations import scan_relation"),
        (CLIENT, "from pacas import Relation"),
        (CLIENT, "import pacas"),
        (CLIENT, "from pacas.example import med"),
        (Module("pacas.remote.connection"), "from pacas.provider.ledger.entry import Entry"),
        (Module("pacas.remote.connection"), "from pacas.server.signing_key import SigningKey"),
        (Module("pacas.wire.shapes.base"), "from pacas.provider.provider import Provider"),
        (Module("pacas.provider.provider"), "from pacas.client.check import check"),
        (Module("pacas.core.query"), "from pacas.engine.contract import Engine"),
        (Module("pacas.errors"), "from pacas.core.relation import Relation"),
        (Module("pacas.example"), "from pacas.protocol.messages import Quote"),
        (Module("pacas.storage.url"), "from pacas.formats.relations.relations import scan_relation"),
        (Module("pacas.experiments.plots"), "from pacas.cli.options import out"),
        (Module("pacas", is_package=True), "from pacas.cli.main import run"),
        (Module("pacas.provider.in_memory.stock"), "from pacas.provider.on_engine.shop import x"),
        (Module("pacas.provider.safety.margins"), "from pacas.provider.shop.judging import x"),
        (Module("pacas.provider.column"), "from pacas.provider.terms import Terms"),
        (Module("pacas.formats.client_file"), "from pacas.provider.terms import Terms"),
        (Module("pacas.formats.relations.relations"), "import pacas.provider.ledger.ledger"),
        (Module("pacas.engine.sql.statements"), "from pacas.engine.duck.engine import DuckEngine"),
    ],
)
def test_an_import_against_the_arrows_is_found(module: Module, source: str) -> None:
    assert any("must not see" in found for found in complaints(module, source))


@pytest.mark.parametrize("source", ["from ..core.relation import Relation", "from .. import core"])
def test_a_relative_import_out_of_the_room_is_found(source: str) -> None:
    assert any("relative import out of its room" in found for found in complaints(CLIENT, source))


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    from pacas.core.relation import Relation",
        "async def f():\n    import pacas.core",
        "class A:\n    def f(self):\n        if True:\n            from pacas.client.check import check",
    ],
)
def test_an_import_hidden_in_a_function_is_found_even_if_the_direction_is_right(source: str) -> None:
    assert any("hidden in a function" in found for found in complaints(CLIENT, source))


def test_a_module_that_is_loaded_must_be_written_out() -> None:
    assert "not written out" in complaints(CLIENT, "import_module(f'pacas.{name}')")[0]
    assert complaints(Module("pacas.cli.main"), "import_module(COMMANDS[name])") == []


def test_a_place_that_is_not_on_the_map_is_found() -> None:
    assert "not on the map" in complaints(Module("pacas.utils"), "import pacas.core")[0]
    assert "not on the map" in complaints(CLIENT, "from pacas.utils import x")[0]
    assert (
        "in no place" in complaints(Module("pacas.provider.helpers.x"), "from pacas.provider.column import Column")[0]
    )


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (CLIENT, "from pacas.core.relation import Relation\nfrom pacas.engine.contract import Engine"),
        (CLIENT, "from pacas.protocol.messages import Quote\nfrom pacas.errors import PacasError"),
        (Module("pacas.cli.demo.command"), "from pacas import example\nfrom pacas.provider.provider import Provider"),
        (Module("pacas.experiments.evaluation"), "import pacas\nfrom pacas import Relation"),
        (Module("pacas.example"), "from pacas.core.relation import Relation\nfrom pacas.errors import PacasError"),
        (Module("pacas", is_package=True), "from pacas.remote.remote_provider import RemoteProvider"),
        (Module("pacas.engine.choosing"), "def f():\n    return import_module('pacas.engine.spark.engine')"),
        (CLIENT, "import numpy\ndef f():\n    import scipy\n    import pacas_extras"),
    ],
)
def test_an_import_along_the_arrows_is_fine(module: Module, source: str) -> None:
    assert complaints(module, source) == []


def test_the_map_is_read_as_it_is_meant() -> None:
    lines = [
        "errors",
        "provider/  audit terms  # sells",
        "  ledger/  entry",
        "           chain  # kept",
        "core/  money",
    ]
    assert read_map(lines) == {
        *("errors", "provider", "provider.audit", "provider.terms"),
        *("provider.ledger", "provider.ledger.entry", "provider.ledger.chain", "core", "core.money"),
    }
