"""A provider's place in a circle, as its file describes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from circle_shops import race_world, write_member
from circles import MemoryHouse

import pacas
from pacas.errors import ConfigError, HouseError, InputError
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.opening.open_circle import open_circle
from pacas.protocol.messages import Answer, Request

HOUSE = '[circle]\nhouse = "https://house.example"\n'


def described(folder: Path, text: str) -> ProviderFile:
    (folder / "shop.toml").write_text(f'[relation]\ndata = "d.csv"\n{text}')
    return read_provider_file(folder / "shop.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[circle]\nsecret = "s"\n', "name it, or leave them out"),
        (HOUSE, "needs secret"),
        (f'{HOUSE}secret = "lost"\nmember = "A"\n', "circle.secret: lost cannot be read"),
        (f'{HOUSE}secret = "short"\nmember = "A"\ntoken = "short"\n', "at least 32 bytes"),
        (f'{HOUSE}secret = "long"\nmember = "A"\n', "circle.token"),
    ],
)
def test_a_house_needs_a_secret_a_name_and_a_token(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "short").write_text("too short\n")
    (tmp_path / "long").write_text("x" * 40)
    with pytest.raises(InputError, match=said):
        open_circle(described(tmp_path, text))


def test_who_only_looks_leaves_the_house_alone(tmp_path: Path) -> None:
    assert open_circle(described(tmp_path, "")) is None
    (tmp_path / "long").write_text("x" * 40)
    away = open_circle(described(tmp_path, f'{HOUSE}secret = "long"\nmember = "A"\n'), is_asked=False)
    assert away is not None and len(away.digest) == 64
    with pytest.raises(HouseError):
        away.house.read("a" * 64)


def test_a_file_opens_a_member_and_the_policy_needs_the_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, house = race_world(9), MemoryHouse()
    write_member(tmp_path, world, "A", "https://house.example")
    monkeypatch.setattr("pacas.opening.open_circle._house", lambda file, url: house)
    with pacas.open_provider(tmp_path / "provider.toml") as provider:
        assert isinstance(provider.pay(Request({"K": "p1"}, "DRUG", 0), 10**15, "1"), Answer)
    assert len(house.kept) == 1
    text = (tmp_path / "provider.toml").read_text()
    (tmp_path / "provider.toml").write_text(text.replace('house = "', 'ca = "').replace('secret = "circle.key"', ""))
    with pytest.raises(ConfigError, match="name it, or leave them out"):
        pacas.open_provider(tmp_path / "provider.toml")
