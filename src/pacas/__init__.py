"""PACAS: privacy-aware data cleaning as a service.

A client repairs a dirty table with single values bought from a provider; the provider sells each value as general
as its privacy policy asks. After Huang, Milani and Chiang, "Privacy-Aware Data Cleaning-as-a-Service".
"""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_STUB = ast.parse(__spec__.loader.get_data(f"{__path__[0]}/__init__.pyi")).body
_HOMES = {alias.name: node.module for node in _STUB if isinstance(node, ast.ImportFrom) for alias in node.names}
"""Each name that is offered, and the module that defines it: the stub says it, to type checkers and here."""

__all__ = next(ast.literal_eval(node.value) for node in _STUB if isinstance(node, ast.Assign))


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: so a client loads no provider, and a command what it uses."""
    home = _HOMES.get(name)
    if home is not None:
        value = globals()[name] = getattr(import_module(home), name)
        return value
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):  # a room
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
