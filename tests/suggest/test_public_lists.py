"""The small lists of countries and states: in order, complete, and of one mind."""

from __future__ import annotations

from collections import Counter

import pytest

from pacas.suggest.hierarchies.public_lists import LISTS, plain, public_list, read_list


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_sorted_and_has_no_name_code_or_alias_twice(name: str) -> None:
    lines = read_list(name)
    names = [line[0] for line in lines]
    assert names == sorted(names)
    spelled = Counter(plain(one) for line in lines for one in (line[0], *filter(None, line[4].split(";"))))
    codes = Counter(code for line in lines for code in line[1].split(";"))
    assert max(spelled.values()) == max(codes.values()) == 1
    assert all(line[4] == ";".join(sorted(line[4].split(";"), key=str.casefold)) for line in lines)


@pytest.mark.parametrize(
    ("name", "lines", "near", "far"), [("countries", 236, 22, 5), ("us_states", 51, 9, 4)], ids=["countries", "states"]
)
def test_every_region_lies_in_one_larger_one(name: str, lines: int, near: int, far: int) -> None:
    regions = {(line[2], line[3]) for line in read_list(name)}
    assert len(read_list(name)) == lines
    assert len(regions) == len({region for region, _ in regions}) == near
    assert len({larger for _, larger in regions}) == far


@pytest.mark.parametrize(
    ("name", "value", "labels"),
    [
        ("countries", "czech republic", ("Eastern Europe", "Europe")),
        ("countries", "Korea, Republic of", ("Eastern Asia", "Asia")),
        ("countries", "BRA", ("South America", "America")),
        ("countries", "bra", None),
        ("countries", "U.S.", ("Northern America", "America")),
        ("countries", "U.S.A.", ("Northern America", "America")),
        ("us_states", "D.C.", ("South Atlantic", "South")),
        ("us_states", "new york", ("Middle Atlantic", "Northeast")),
        ("us_states", "x" * 100, None),
    ],
)
def test_names_are_found_by_any_spelling_and_codes_as_they_are(
    name: str, value: str, labels: tuple[str, str] | None
) -> None:
    assert public_list(name).find(value) == labels
