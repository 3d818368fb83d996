"""Rare values beside frequent ones that are nearly the same text: in rows alone, and where it is looked further."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)
TOWNS = {"Manhattan": "New York", "Rochester": "Monroe", "Syracuse": "Onondaga", "Buffalo": "Erie"}
EACH = 30


def towns(**slips: str) -> Relation:
    """Each town so many times, and once more as it was written by a slip."""
    rows = [(town, county) for town, county in TOWNS.items() for _ in range(EACH)]
    rows += [(slip, TOWNS[meant]) for meant, slip in slips.items()]
    keys = [str(i) for i in range(len(rows))]
    return Relation(pa.table({"id": keys, "town": [t for t, _ in rows], "county": [c for _, c in rows]}))


def provider(*values: str) -> Provider:
    """It sells the true town of the rows behind those that are right."""
    ids = [str(len(TOWNS) * EACH + i) for i in range(len(values))]
    return Provider(
        {"id": ids, "town": list(values)},
        match={"town": "id = id"},
        hierarchies={"town": Hierarchy.flat(TOWNS)},
        total=10,
    )


def cleaned(table: Relation, shop: Provider | None = None, budget: float = 0, **options: bool) -> Cleaning:
    how = SafeClean("town -> county", budget, strategy="weigh", **options)  # type: ignore[arg-type]
    return how.clean(table, shop or provider("Buffalo"), engine=ENGINE)


def written(result: Cleaning) -> list[str]:
    return result.relation.table.column("town").to_pylist()[len(TOWNS) * EACH :]


def test_what_no_dependency_contradicts_is_left_alone() -> None:
    table = towns(Manhattan="Manhatan", Buffalo="Bufalo")
    assert cleaned(table).relation.table.equals(table.table)


def with_a_conflict(table: Relation) -> Relation:
    """The same, and one county of Rochester's is another."""
    counties = table.table.column("county").to_pylist()
    counties[EACH] = "Erie"
    return Relation(table.table.set_column(2, "county", pa.array(counties)))


def test_in_a_table_that_contradicts_itself_a_row_alone_gets_its_group_back_if_it_then_agrees() -> None:
    table = with_a_conflict(towns(Manhattan="Manhatan", Buffalo="Bufalo", Syracuse="Ithaca"))
    assert written(cleaned(table)) == ["Manhattan", "Buffalo", "Ithaca"]


def test_a_row_alone_that_would_not_agree_stays() -> None:
    assert written(cleaned(with_a_conflict(contradicting()))) == ["Manhatan"]


def test_a_row_alone_that_would_contradict_nothing_gets_its_value_back() -> None:
    """There is no other row with its town and street, whichever the town is."""
    table = with_a_conflict(towns(Manhattan="Manhatan", Buffalo="Bufalo", Syracuse="Ithaca")).table
    table = table.append_column("street", pa.array([f"{i // 6} Main" for i in range(table.num_rows)]))
    how = SafeClean("street, town -> county", 0, strategy="weigh")
    assert written(how.clean(Relation(table), provider("Buffalo"), engine=ENGINE)) == ["Manhattan", "Buffalo", "Ithaca"]


def test_where_most_values_are_rare_a_few_that_are_near_to_another_one_are_none() -> None:
    """Of a thousand that are written once, three differ from a frequent one by a letter or two."""
    rows = [(f"{town} at 028 days", "x") for town in TOWNS for _ in range(EACH)]
    rows += [(f"{hash_ * 7919 % 99991:05}{hash_ * 104729 % 99991:05} score", "x") for hash_ in range(1, 1_000)]
    slips = [("Manhattan of 028 days", "x"), ("Buffalo a 028 days", "x"), ("Syracuse on 028 days", "x")]
    rows += [*slips, ("Rochester at 028 days", "y")]
    table = pa.table({"id": [str(i) for i in range(len(rows))], "town": [t for t, _ in rows],
                      "county": [c for _, c in rows]})  # fmt: skip
    shop = Provider({"id": ["0"], "county": ["x"]}, match={"county": "id = id"},
                    hierarchies={"county": Hierarchy.flat("xy")}, total=10)  # fmt: skip
    result = SafeClean("town -> county", 0, strategy="weigh").clean(Relation(table), shop, engine=ENGINE)
    assert result.relation.table.column("town").to_pylist()[-4:-1] == [town for town, _ in slips]
    assert result.relation.table.column("county").to_pylist()[-1] == "x"


def test_a_right_hand_value_that_its_hierarchy_does_not_have_is_a_slip_also_in_a_row_alone() -> None:
    table = with_a_conflict(towns()).table
    rows = pa.table({"id": ["a", "b"], "town": ["Troy", "Utica"], "county": ["Onondga", "Oneida"]})
    shop = Provider({"id": ["0"], "county": ["New York"]}, match={"county": "id = id"},
                    hierarchies={"county": Hierarchy.flat([*TOWNS.values(), "Oneida"])}, total=10)  # fmt: skip
    dirty = Relation(pa.concat_tables([table, rows]))
    result = SafeClean("town -> county", 0, strategy="weigh").clean(dirty, shop, engine=ENGINE)
    assert result.relation.table.column("county").to_pylist()[-2:] == ["Onondaga", "Oneida"]


@pytest.mark.parametrize(("values", "shown", "meant"), [("FM", "Mx", "M"), ("12", "27", "27")])
def test_one_letter_too_many_is_a_slip_of_a_short_text_but_a_number_is_none(
    values: str, shown: str, meant: str
) -> None:
    """Both agree with what stands beside them."""
    rows = [(value, "x") for value in values for _ in range(EACH)] + [(values[0], "y"), (shown, "x")]
    table = pa.table({"id": [str(i) for i in range(len(rows))], "town": [t for t, _ in rows],
                      "county": [c for _, c in rows]})  # fmt: skip
    shop = Provider({"id": ["0"], "county": ["x"]}, match={"county": "id = id"},
                    hierarchies={"county": Hierarchy.flat("xy")}, total=10)  # fmt: skip
    result = SafeClean("town -> county", 0, strategy="weigh").clean(Relation(table), shop, engine=ENGINE)
    assert result.relation.table.column("town").to_pylist()[-1] == meant


def test_a_slip_that_is_in_no_left_side_is_left_alone() -> None:
    table = with_a_conflict(towns()).table
    rows = pa.table({"id": ["a"], "town": ["Troy"], "county": ["Monro"]})
    result = cleaned(Relation(pa.concat_tables([table, rows])))
    assert result.relation.table.column("county").to_pylist()[-1] == "Monro"


def test_a_slip_is_repaired_for_nothing_where_it_is_looked_further() -> None:
    result = cleaned(towns(Manhattan="Manhatan", Buffalo="Bufalo", Syracuse="Syrcause"), look_further=True)
    assert written(result) == ["Manhattan", "Buffalo", "Syracuse"]
    assert result.spent == 0 and result.weighing is not None and result.weighing.free == 3


def test_a_rare_value_that_is_near_to_nothing_stays() -> None:
    assert written(cleaned(towns(Manhattan="Ithaca", Buffalo="Troy"), look_further=True)) == ["Ithaca", "Troy"]


def test_where_values_are_near_to_each_other_anyhow_being_near_says_nothing() -> None:
    """Nine codes are all one edit apart, and a tenth that is rare is no slip for any of them."""
    rows = [(f"CODE{i}", f"name {i}") for i in range(9) for _ in range(EACH)] + [("CODE9", "name 9")]
    table = Relation(pa.table({"id": [str(i) for i in range(len(rows))], "town": [t for t, _ in rows],
                               "county": [c for _, c in rows]}))  # fmt: skip
    assert cleaned(table, look_further=True).relation.table.equals(table.table)


def contradicting() -> Relation:
    """Only one slip, and what stands beside it is another town's county."""
    table = towns(Manhattan="Manhatan").table
    counties = [*table.column("county").to_pylist()[:-1], "Erie"]
    return Relation(table.set_column(2, "county", pa.array(counties)))


def test_a_row_that_would_contradict_its_new_group_stays() -> None:
    assert written(cleaned(contradicting(), look_further=True)) == ["Manhatan"]


def test_what_is_in_doubt_is_bought_where_it_is_sold() -> None:
    result = cleaned(contradicting(), provider("Manhattan"), 10, look_further=True)
    assert [(p.attribute, p.row, p.value) for p in result.purchases] == [("town", len(TOWNS) * EACH, "Manhattan")]
    assert written(result) == ["Manhattan"]


def test_only_a_client_that_weighs_looks_further() -> None:
    with pytest.raises(InputError, match="look further: only the strategy that weighs does"):
        SafeClean("town -> county", 1, strategy="paper", look_further=True)


def test_what_is_found_without_looking_further_is_found_with_it() -> None:
    """A number is no slip for another one, unless the row then agrees with a group."""
    table = with_a_conflict(towns(Manhattan="Manhatan")).table
    rows = [("Area 51 north", "Lincoln")] * EACH + [("Area 52 north", "Lincoln"), ("Area 54 north", "Erie")]
    more = pa.table({"id": [f"x{i}" for i in range(len(rows))], "town": [t for t, _ in rows],
                     "county": [c for _, c in rows]})  # fmt: skip
    dirty = Relation(pa.concat_tables([table, more]))
    for further in (False, True):
        assert written(cleaned(dirty, look_further=further))[-2:] == ["Area 51 north", "Area 54 north"]
