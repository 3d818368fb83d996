"""`import pacas`: what it offers is what `__all__` lists, and each name says what it is."""

from __future__ import annotations

import inspect
import types

import pytest

import pacas


def test_what_is_exported_is_what_is_listed() -> None:
    offered = {
        name
        for name, value in vars(pacas).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert offered == set(pacas.__all__)


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
