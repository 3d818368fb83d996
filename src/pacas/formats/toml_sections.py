"""What `client.toml` and `provider.toml` share: how they are read, and what names an engine and numbers rows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator
from pydantic_core import PydanticCustomError

from pacas.engine.choosing import ENGINES
from pacas.engine.contract import memory_bytes
from pacas.errors import ConfigError, FileError, InputError, did_you_mean
from pacas.formats.toml_mistakes import mistake


def read_toml(path: Path, what: str, *, exact: bool = False) -> dict[str, Any]:
    """A file as TOML has it; `exact` reads 0.1 as a tenth."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}); give {what}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name} is not TOML: {error}") from None
    try:
        return tomllib.loads(text, parse_float=Decimal if exact else float)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError is a ValueError
        raise ConfigError(f"{path.name} is not TOML: {mistake(text, str(error))}") from None


def unknown_key(key: str, known: Mapping[str, str], meant: Mapping[str, str]) -> str:
    """A key or section that is none; `known` says how sections are written, `meant` what others are called here."""
    name = meant.get(key, key)
    if " " in name:
        return f"unknown key {key!r}; {name}"
    near = did_you_mean(name, known)
    written = next((form for one, form in known.items() if form and repr(one) in near), None)
    return f"unknown key {key!r}; {near}" + (f" it is written {written}" if written else "")


@contextmanager
def named(key: str) -> Iterator[None]:
    """Say which key of the file an error is about."""
    try:
        yield
    except InputError as error:
        raise ConfigError(f"{key}: {error}") from None


class Section(BaseModel):
    """A table of the file: no key but those that are known, no value of another type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def _key(value: Any) -> tuple[str, ...]:
    columns = [value] if isinstance(value, str) else value
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) and c for c in columns):
        raise PydanticCustomError("key", 'give a column, such as "ID", or a list of them')
    return tuple(columns)


Key = Annotated[tuple[str, ...], PlainValidator(_key)]
"""The columns that tell the rows of a folder or a table apart, and so number them: one, or a list."""


def _engine(value: Any) -> str:
    if not isinstance(value, str) or value not in ENGINES:
        near = did_you_mean(value, ENGINES) if isinstance(value, str) else f"there is {', '.join(ENGINES)}"
        raise PydanticCustomError("engine", "no engine {value}; {near}", {"value": repr(value), "near": near})
    return value


EngineName = Annotated[str, PlainValidator(_engine)]
"""Which engine reads and groups the data."""


def _memory(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("memory", 'give an amount of memory, such as "2GB"')
    try:
        memory_bytes(value)
    except InputError as error:
        raise PydanticCustomError("memory", "{why}", {"why": str(error)}) from None
    return value


Memory = Annotated[str, PlainValidator(_memory)]
"""An amount of memory, such as "2GB"."""
