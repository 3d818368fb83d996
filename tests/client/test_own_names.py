"""A client who calls columns by other names than the provider does buys, pays and repairs as one who does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from engines import ENGINES

import pacas
from pacas import example
from pacas.client.buying.own_names import OwnNames
from pacas.client.outcome.cleaning import Cleaning
from pacas.errors import InputError, PacasError
from pacas.protocol.marketplace import NobodySells, published_by

OWN = {"drug": "MED", "sex": "GEN", "MED": "AGE"}
"""The client's names, one of which is another column of the provider's."""


def renamed(table: pacas.Relation) -> dict[str, list[str | None]]:
    called = {theirs: own for own, theirs in OWN.items()}
    return {called.get(name, name): values for name, values in table.table.to_pydict().items()}


def shop(**options: object) -> pacas.Provider:
    hierarchies = {"MED": example.med}
    return pacas.Provider(example.provider, match={"MED": example.md}, hierarchies=hierarchies, total=5.4, **options)  # type: ignore[arg-type]


def told(cleaning: Cleaning, called: Mapping[str, str]) -> list[object]:
    bought = [
        (called.get(p.attribute, p.attribute), p.rows.tolist(), p.level, p.value, p.price) for p in cleaning.purchases
    ]
    return [bought, cleaning.spent_nanocredits, cleaning.violations_after]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> object:
    return request.param(request)


@pytest.mark.parametrize("strategy", ["weigh", "paper"])
def test_the_same_is_bought_and_written_under_other_names(engine: object, strategy: str) -> None:
    options = {"budget": 2, "strategy": strategy}
    plain = pacas.SafeClean(["GEN, DIAG -> MED"], **options).clean(example.client, shop())  # type: ignore[arg-type]
    cleaner = pacas.SafeClean(["sex, DIAG -> drug"], columns=OWN, **options)  # type: ignore[arg-type]
    result = cleaner.clean(renamed(example.client), shop(), engine=engine)  # type: ignore[arg-type]
    assert told(result, OWN) == told(plain, {})
    assert len(result.purchases) > 0
    assert result.relation.table["drug"].to_pylist() == plain.relation.table["MED"].to_pylist()


def test_offers_and_dependencies_come_in_the_clients_names() -> None:
    market = OwnNames(shop(published=["GEN, DIAG -> MED", "GEN, AGE -> ZIP"]), OWN)
    (offer,) = market.catalogue().values()
    assert (offer.attribute, offer.columns) == ("drug", ("sex", "MED"))
    assert [str(fd) for fd in market.dependencies()] == ["sex, DIAG -> drug", "sex, MED -> ZIP"]


def test_a_column_can_be_said_not_to_be_the_providers() -> None:
    market = OwnNames(shop(), {"MED": None})
    assert list(market.catalogue()) == ["the provider's MED"]
    cleaner = pacas.SafeClean(["GEN, DIAG -> MED"], 2, columns={"MED": None})
    left = cleaner.clean(example.client, shop()).unrepaired
    assert {one.reason for one in left} == {"not_sold"}


def test_a_column_of_the_providers_that_only_looks_like_one_of_the_clients_is_none_of_them() -> None:
    market = OwnNames(shop(), {"MED": "AGE"})
    assert list(market.catalogue()) == ["the provider's MED"]
    with pytest.raises(InputError, match="not for sale"):
        market.quote(pacas.Request({"GEN": "male", "MED": "51"}, "drug", 0))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"drug": "MEDS"}, "columns.drug: the provider names no column 'MEDS'; did you mean 'MED'"),
        ({"drug": "MED", "pill": "MED"}, "both 'drug' and 'pill' are said to be the provider's 'MED'"),
        ({"pill": "MED"}, "no column 'pill'"),
    ],
)
def test_names_that_nobody_has_or_that_say_two_things_are_an_error(columns: Mapping[str, str], says: str) -> None:
    with pytest.raises(PacasError, match=says):
        pacas.SafeClean(["sex, DIAG -> drug"], 1, columns=columns).clean(renamed(example.client), shop())


def test_a_market_of_nobody_has_nothing_and_publishes_nothing() -> None:
    nobody = NobodySells()
    assert (nobody.catalogue(), published_by(nobody)) == ({}, ())
    with pytest.raises(InputError, match="no provider"):
        nobody.quote(pacas.Request({}, "MED", 0))
    with pytest.raises(InputError, match="no provider"):
        nobody.quote_batch("MED", {})
    with pytest.raises(InputError, match="no provider"):
        nobody.pay(pacas.Request({}, "MED", 0), 0, "key")
