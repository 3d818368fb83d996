"""The provider: what it remembers, what it refuses to open, and what it never says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pacas import example
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import Relation
from pacas.errors import InputError, LedgerBrokenError, LedgerChangedError, PacasError
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.provider.audit import audit
from pacas.provider.ledger.entry import Opening
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import PAPER_QUOTES
from pacas.provider.support.edits import Neighbour
from pacas.provider.support.mix import Mix
from pacas.provider.support.support_set import Generated, GivenSupport
from pacas.provider.terms import ViewPrice
from pacas.storage.sqlite.ledger import SqliteLedger

CREDIT = 10**9
POLICY = Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, 2)


def broker(**options: Any) -> Provider:
    """The running example's provider, with the paper's quotes."""
    given: dict[str, Any] = {"match": {"MED": "GEN = GEN, AGE = AGE"}, "policies": [POLICY], "quotes": "paper"}
    given |= {"hierarchies": example.hierarchies}
    return Provider(options.pop("relation", example.provider), **(given | options))


def medication(gender: str, age: str, level: int = 0) -> Request:
    return Request({"GEN": gender, "AGE": age}, "MED", level)


FIRST = medication("male", "51", 1)
ALL = [medication(str(g), str(a), level) for g, a in (("male", 51), ("female", 32), ("male", 79)) for level in range(4)]


# ---- memory -------------------------------------------------------------------------------------------------------


def test_a_provider_sells_while_another_is_made_over_its_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(SqliteLedger(path, patience=0.05)) as one, closing(SqliteLedger(path)) as other:
        first = broker(ledger=one)
        sold: list[Answer | Refusal] = []
        second = broker(ledger=other, tell=lambda what: sold.append(first.pay(FIRST, CREDIT, f"{what}", buyer="ann")))
        assert len(sold) > 1 and all(isinstance(answer, Answer) for answer in sold)
        assert [second.quote(r, buyer="ann") for r in ALL] == [first.quote(r, buyer="ann") for r in ALL]


def test_providers_that_find_the_same_new_ledger_take_one_seed(tmp_path: Path) -> None:
    made: list[Provider] = []

    class Late(SqliteLedger):
        """A ledger that another provider opens right after it was found to be new."""

        def opening(self) -> Opening | None:
            found = super().opening()
            if not made:
                made.append(broker(ledger=SqliteLedger(tmp_path / "ledger.db")))
            return found

    with closing(Late(tmp_path / "ledger.db")) as ledger:
        late = broker(ledger=ledger)
        assert [late.quote(r) for r in ALL] == [made[0].quote(r) for r in ALL]
        assert ledger.head().entries == 1
    made[0].ledger.close()


def test_a_restarted_provider_has_the_same_history_and_the_same_prices(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.db")
    provider = broker(ledger=ledger)
    first = provider.pay(FIRST, CREDIT, "0", buyer="ann")
    assert isinstance(first, Answer)
    assert isinstance(provider.pay(medication("female", "32", 2), CREDIT, "1", buyer="bob"), Answer)
    quotes = {(b, i): provider.quote(r, buyer=b) for b in ("ann", "bob", "cyd") for i, r in enumerate(ALL)}
    ledger.close()
    again = broker(ledger=SqliteLedger(tmp_path / "ledger.db"))
    assert {(b, i): again.quote(r, buyer=b) for b in ("ann", "bob", "cyd") for i, r in enumerate(ALL)} == quotes
    assert again.pay(FIRST, 0, "0", buyer="ann") == first


def test_the_seed_is_secret_and_random_unless_given() -> None:
    found = {tuple(broker(policies=[]).stock.support.cells["MED"].new.tolist()) for _ in range(6)}
    assert len(found) > 1, "six rows have few neighbours to choose from; all six sets alike are not to be expected"
    same = [broker(seed=7).stock.support.cells["MED"].new.tolist() for _ in range(2)]
    assert same[0] == same[1]


def test_two_providers_over_one_ledger_know_of_each_others_sales(tmp_path: Path) -> None:
    """As two processes do: a quote may be behind, a sale never."""
    one, other = (broker(ledger=SqliteLedger(tmp_path / "ledger.db")) for _ in range(2))
    sold = one.pay(FIRST, CREDIT, "a")
    assert isinstance(sold, Answer)
    assert other.pay(FIRST, 0, "b") == Answer(sold.value, 1, 0)
    one.refresh()
    assert one.quote(FIRST) == other.quote(FIRST) == Quote(0)


def test_what_is_judged_anew_at_payment_is_what_another_provider_sold(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "relation": Relation.of({"ID": ["1", "2"], "GEN": ["f", "f"], "MED": ["dolex", "dolex"]}),
        "match": {"MED": "ID = ID"},
        "hierarchies": {"MED": example.med},
        "policies": [Policy(("GEN",), ("MED",), {}, 2, allow_linkage=True)],
        "support": GivenSupport([Neighbour({row: {"MED": "ibuprofen"}}) for row in (0, 1)]),
    }
    one, other = (broker(ledger=SqliteLedger(tmp_path / "ledger.db"), **options) for _ in range(2))
    assert isinstance(one.pay(Request({"ID": "1"}, "MED", 0), CREDIT, "a"), Answer)
    assert isinstance(other.quote(Request({"ID": "2"}, "MED", 0)), Quote), "it has not heard of the sale"
    assert other.pay(Request({"ID": "2"}, "MED", 0), CREDIT, "b") == Refusal(Reason.UNSAFE)


def test_quotes_that_are_kept_are_judged_anew_when_few_neighbours_are_left() -> None:
    """Once all survivors might drop a value of a group that a sale does not touch, they count again."""
    rows = [("a", "A", "dolex"), ("a2", "A", "ibuprofen"), ("b", "B", "dolex"), ("c", "C", "dolex")]
    rows += [("c2", "C", "dolex"), ("c3", "C", "ibuprofen")]
    relation = Relation.of({"ID": [r[0] for r in rows], "G": [r[1] for r in rows], "MED": [r[2] for r in rows]})
    changes = [(0, "tylenol")] * 2 + [(2, "tylenol")] * 2 + [(3, "tylenol")] * 6
    provider = Provider(
        relation,
        match={"MED": "ID = ID"},
        hierarchies={"MED": example.med},
        policies=[Policy(("G",), ("MED",), {}, 2, allow_linkage=True)],
        support=GivenSupport([Neighbour({row: {"MED": value}}) for row, value in changes]),
    )
    ask = {name: Request({"ID": name}, "MED", 0) for name in ("a", "c")}
    assert provider.quote(ask["a"]) == Quote(2 * CREDIT // 10)
    assert isinstance(provider.pay(ask["c"], CREDIT, "c"), Answer)
    assert provider.quote(ask["a"]) == Refusal(Reason.UNSAFE), "only b's neighbours would be left, without b's value"
    assert provider.quote_batch("MED", {"ID": ["a"]})[0][0] == Refusal(Reason.UNSAFE)


def test_a_lower_limit_on_matches_forgets_no_purchase() -> None:
    """Also where edits have a say, and matches are found anew when the ledger is read."""
    ledger = MemoryLedger()
    options: dict[str, Any] = {
        "match": {"MED": "GEN = GEN"},
        "policies": [],
        "support": Generated(4, mix=Mix.of({"update": 0.5, "delete": 0.5})),
        "ledger": ledger,
    }
    sold = broker(**options).pay(Request({"GEN": "male"}, "MED", 2), CREDIT, "a")
    assert isinstance(sold, Answer)
    found = audit(broker(max_matches=1, **options))
    assert found.buyers["local"].due == found.buyers["local"].spent == sold.price > 0


def test_a_value_that_only_neighbours_have_matches_nothing() -> None:
    """The match column is itself protected, so its hierarchy's other values have codes; no row has them."""
    provider = Provider(
        Relation.of({"G": ["a", "b"], "H": ["h", "h"], "M": ["x", "y"]}),
        match={"M": "G = G"},
        hierarchies={"G": Hierarchy.from_rows([("a", "*"), ("b", "*"), ("c", "*")])},
        policies=[Policy(("H",), ("G",), {}, 2)],
        support=GivenSupport([Neighbour({row: {"M": "z"}}) for row in (0, 1)]),
    )
    nobody = Request({"G": "c"}, "M", 0)
    assert provider.quote(nobody) == provider.pay(nobody, CREDIT, "a") == Refusal(Reason.NO_MATCH)
    assert provider.quote_batch("M", {"G": ["c", "a"]})[0] == [Refusal(Reason.NO_MATCH)] * 2


def test_a_match_column_of_nulls_matches_nothing() -> None:
    provider = Provider(Relation.of({"G": [None, None], "M": ["x", "y"]}), match={"M": "G = G"}, quotes="paper")
    asked = Request({"G": "a"}, "M", 0)
    assert provider.quote(asked) == provider.pay(asked, CREDIT, "a") == Refusal(Reason.NO_MATCH)
    assert provider.quote_batch("M", {"G": ["a", None]})[1] == [Refusal(Reason.NO_MATCH)] * 2


def test_a_wrong_total_in_the_ledger_is_found_before_anything_is_sold(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    provider = broker(ledger=SqliteLedger(path), seed=7)
    assert isinstance(provider.pay(FIRST, CREDIT, "a"), Answer)
    provider.ledger.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE total SET spent = 7")
    before = path.read_bytes()
    with pytest.raises(LedgerBrokenError, match="totals"):
        broker(ledger=SqliteLedger(path), seed=7)
    assert path.read_bytes() == before


def test_a_credit_limit_counts_what_was_spent(tmp_path: Path) -> None:
    provider = broker(policies=[])
    quoted = provider.quote(FIRST)
    assert isinstance(quoted, Quote)
    assert provider.pay(FIRST, CREDIT, "a", credit=quoted.price - 1) == Refusal(Reason.CREDIT)
    assert isinstance(provider.pay(FIRST, CREDIT, "a", credit=quoted.price), Answer)
    assert isinstance(provider.pay(FIRST, CREDIT, "a", credit=0), Answer), "a retry is not charged again"
    other = medication("female", "32")
    assert provider.pay(other, CREDIT, "b", credit=quoted.price) == Refusal(Reason.CREDIT)


# ---- fingerprint --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"relation": Relation(example.provider.table.slice(0, 5))}, "relation"),
        ({"policies": []}, "policies"),
        ({"policies": [Policy(("GEN", "AGE", "ZIP"), ("MED",), {"MED": 0}, 3)]}, "policies"),
        ({"match": {"MED": "GEN = GEN, AGE ~ AGE within 1"}}, "match"),
        ({"support": Generated(per_cell=11)}, "support set"),
        ({"total": 2}, "weights"),
        ({"sensitivity": {"MED": 3}, "match": {"MED": "GEN = GEN, AGE = AGE", "DIAG": "GEN = GEN"}}, "match"),
        ({"seed": 8}, "seed"),
        ({"hierarchies": {**example.hierarchies, "DIAG": Hierarchy.flat(["ulcer"])}}, "hierarchy of DIAG"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_provider_whose_files_have_changed_refuses_to_start_and_says_which(
    tmp_path: Path, options: dict[str, Any], part: str
) -> None:
    path = tmp_path / "ledger.db"
    with closing(SqliteLedger(path)) as ledger:
        assert isinstance(broker(ledger=ledger, seed=7).pay(FIRST, CREDIT, "a"), Answer)
    with pytest.raises(LedgerChangedError) as caught:
        broker(**({"ledger": SqliteLedger(path), "seed": 7} | options))
    assert part in caught.value.parts
    broker(ledger=SqliteLedger(path)).ledger.close()


def test_until_the_first_sale_a_provider_with_other_terms_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(SqliteLedger(path)) as one, closing(SqliteLedger(path)) as other:
        stale = broker(ledger=one)
        secret = one.opening()
        anew = broker(ledger=other, total=2)
        assert (stale.began_anew, anew.began_anew) == ((), ("weights",))
        opening = other.opening()
        assert opening is not None and secret is not None and opening.seed != secret.seed, "a secret of its own"
        with pytest.raises(LedgerChangedError, match="weights"):
            stale.pay(FIRST, CREDIT, "first of all")
        assert isinstance(anew.pay(FIRST, CREDIT, "a"), Answer)
        for sale in (lambda: stale.pay(FIRST, CREDIT, "b"), stale.refresh):
            with pytest.raises(LedgerChangedError, match="weights"):
                sale()
        assert other.verify().holds and other.head().entries == 2
    with closing(SqliteLedger(path)) as again:
        assert broker(ledger=again, total=2).began_anew == ()


def test_of_two_that_begin_anew_together_the_second_takes_the_opening_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(SqliteLedger(path)) as ledger:
        broker(ledger=ledger)
    made: list[Provider] = []

    def tell(what: str) -> None:
        if what == "reading the relation" and not made:
            made.append(broker(ledger=SqliteLedger(path), total=2))

    with closing(SqliteLedger(path)) as ledger:
        late = broker(ledger=ledger, total=2, tell=tell)
        assert made[0].began_anew and not late.began_anew
        assert ledger.opening() == made[0].ledger.opening()
        assert late.quote(FIRST) == made[0].quote(FIRST)
        made[0].ledger.close()


def test_a_neighbour_with_another_text_is_another_support_set(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for number, text in enumerate(("foo", "foo", "bar")):
        options = {"policies": [], "support": GivenSupport([Neighbour({0: {"MED": text}})]), "seed": 7}
        if number < 2:
            with closing(SqliteLedger(path)) as ledger:
                broker(ledger=ledger, **options).pay(medication("male", "51", 3), CREDIT, "a")
        else:
            with pytest.raises(LedgerChangedError) as caught:
                broker(ledger=SqliteLedger(path), **options)
            assert "support set" in caught.value.parts


def test_the_same_provider_opens_its_ledger_again_whatever_its_history_mode(tmp_path: Path) -> None:
    for history in ("pooled", "per_buyer", "pooled"):
        broker(ledger=SqliteLedger(tmp_path / "ledger.db"), history=history).ledger.close()


# ---- terms that cannot be ---------------------------------------------------------------------------------------

SECRET = Relation.of(
    {
        "ID": ["1", "2", "3", "4"],
        "GEN": ["f", "f", "m", "m"],
        "MED": ["dolex", "secret-drug", None, "analgesic"],
        "OK": ["x", "y", "x", "y"],
    }
)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"match": {"MED": "ID = ID"}}, "'MED' has 1 unknown, 1 general, 1 null"),
        ({"match": {"OK": "ID = ID"}, "policies": [Policy(("GEN",), ("MED",), {}, 2)]}, "'MED' has 1 unknown"),
        ({"match": {"OK": "NO = ID, ID = IDD"}}, "match of 'OK'.*'IDD'"),
        ({"match": {"OKAY": "ID = ID"}}, "'OKAY'.*'OK'"),
        ({"match": {"OK": "ID = ID"}, "policies": [Policy(("GEN",), ("OK",), {}, 2)]}, "policy 1.*allow_linkage"),
        (
            {"match": {"OK": "ID ~ ID normalized"}, "policies": [Policy(("GEN",), ("OK",), {}, 2)]},
            "policy 1.*allow_linkage",
        ),
        (
            {"match": {"OK": "GEN = GEN"}, "policies": [Policy(("GEN",), ("OK",), {}, 3)]},
            "k = 3.*level 0 of 'OK' has 2",
        ),
        (
            {"match": {"OK": "GEN = GEN"}, "policies": [Policy(("GEN",), ("OK",), {"OK": 1}, 2)]},
            "level 1 of 'OK' has 1 v",
        ),
        ({"match": {"OK": "GEN = GEN"}, "policies": [Policy(("GEN",), ("OK",), {"OK": 2}, 2)]}, "level 2"),
        ({"match": {"OK": "GEN = GEN"}, "policies": [Policy(("GENDER",), ("OK",), {}, 2)]}, "policy 1.*'GENDER'"),
        ({"match": {"OK": "GEN = GEN"}, "policies": [Policy(("GEN",), (), {}, 2)]}, "policy 1 has no Y"),
        ({"match": {"OK": "GEN = GEN"}, "total": 0.0000001}, "total of 0.000004 credits suffices"),
        ({"match": {"OK": "GEN = GEN"}, "sensitivity": {"MEDS": 2}}, "'MEDS'"),
        ({"match": {"OK": "GEN = GEN"}, "max_matches": 0}, "max_matches"),
        ({"match": {"OK": "GEN = GEN"}, "history": "nobody"}, "history"),
    ],
)
def test_terms_that_cannot_be_are_one_clear_line_without_values(options: dict[str, Any], says: str) -> None:
    with pytest.raises(PacasError, match=says) as caught:
        Provider(SECRET, quotes="paper", **({"hierarchies": {"MED": example.med}} | options))
    message = str(caught.value)
    assert "secret-drug" not in message and "dolex" not in message and "\n" not in message


def test_nothing_about_a_provider_shows_its_values() -> None:
    provider = broker(support=Generated(4, mix=Mix.of({"update": 0.5, "insert": 0.25, "delete": 0.25})))
    shown = "".join(
        map(repr, (provider, provider.stock, provider.stock.support, provider.ledger, *provider.ledger.entries(0)))
    )
    assert not [value for value in example.med.ground_labels if value in shown]


# ---- weights --------------------------------------------------------------------------------------------------------


def test_sensitivity_makes_an_attribute_dearer() -> None:
    match = {"MED": "GEN = GEN, AGE = AGE", "DIAG": "GEN = GEN, AGE = AGE"}
    prices = {}
    for factor in (1, 3):
        provider = broker(match=match, policies=[], sensitivity={"MED": factor})
        prices[factor] = [int(provider.quote_batch(a, {"GEN": ["male"], "AGE": ["51"]}).prices[0, 0]) for a in match]
        assert provider.stock.total == CREDIT
    assert prices[1][0] == pytest.approx(prices[1][1], rel=1e-6)
    assert prices[3][0] == pytest.approx(3 * prices[3][1], rel=1e-6)


def test_price_points_hold() -> None:
    views = {"all medications": ("MED:0", 0.9), "their kinds": ("MED:2", 0.2)}
    points = [
        ViewPrice(name, GeneralizedQuery.parse(f"ID:0, {select}"), round(price * CREDIT))
        for name, (select, price) in views.items()
    ]
    match = {"MED": "GEN = GEN, AGE = AGE", "DIAG": "GEN = GEN, AGE = AGE"}
    provider = broker(match=match, policies=[], points=points)
    assert provider.stock.total == CREDIT
    for point in points:
        quoted = provider.quote_query(point.view)
        assert isinstance(quoted, Quote)
        assert abs(quoted.price - point.price) <= len(provider.stock.support)


def test_price_points_that_clash_are_named() -> None:
    view = GeneralizedQuery.parse("ID:0, MED:0")
    points = [ViewPrice("cheap", view, 1000), ViewPrice("dear", view, 2000)]
    with pytest.raises(InputError, match="'cheap', 'dear'"):
        broker(policies=[], points=points, match={"MED": "GEN = GEN", "DIAG": "GEN = GEN"})


# ---- audit ----------------------------------------------------------------------------------------------------------


def test_an_audit_derives_from_the_ledger_what_buyers_must_have_paid() -> None:
    provider = broker(ledger=MemoryLedger())
    for number, request in enumerate(ALL):
        provider.pay(request, CREDIT, str(number), buyer=("ann", "bob")[number % 2])
    found = audit(provider)
    assert found.holds
    assert found.ledger.holds
    assert set(found.buyers) == {"ann", "bob"}
    for name, buyer in found.buyers.items():
        assert buyer.spent == buyer.due == provider.ledger.total(name).spent
        assert buyer.surviving < found.neighbours
    assert sum(sale.purchases for sale in found.sales) == sum(b.purchases for b in found.buyers.values())
    (policy,) = found.policies
    assert sum(policy.margins.values()) == policy.groups == 6
    assert min(policy.margins) >= 0


def test_an_audit_of_sales_judged_per_buyer_warns_of_what_they_tell_together() -> None:
    provider = Provider(
        Relation.of({"ID": ["1", "2"], "GEN": ["f", "f"], "MED": ["dolex", "dolex"]}),
        match={"MED": "ID = ID"},
        hierarchies={"MED": example.med},
        policies=[Policy(("GEN",), ("MED",), {}, 2, allow_linkage=True)],
        support=GivenSupport([Neighbour({row: {"MED": "ibuprofen"}}) for row in (0, 1)]),
        history="per_buyer",
    )
    for buyer, patient in (("ann", "1"), ("bob", "2")):
        assert isinstance(provider.pay(Request({"ID": patient}, "MED", 0), CREDIT, "a", buyer=buyer), Answer)
    found = audit(provider)
    assert found.holds, "each buyer alone is held to the policy, as agreed"
    assert any("1 X-groups are short" in warning for warning in found.warnings)


def test_an_audit_says_in_red_what_its_owner_has_allowed() -> None:
    linked = Policy(("GEN",), ("MED",), {"MED": 0}, 2, allow_linkage=True)
    assert any("no policy" in w for w in audit(broker(policies=[])).warnings)
    assert any("linkage" in w and "AGE" in w for w in audit(broker(policies=[linked])).warnings)
    assert any("per_buyer" in w for w in audit(broker(history="per_buyer")).warnings)
    assert audit(broker()).warnings == (PAPER_QUOTES,)
    assert audit(broker(quotes="sealed")).warnings == ()


def test_a_relation_without_rows_is_nothing_to_sell() -> None:
    with pytest.raises(InputError, match="no rows"):
        broker(relation=Relation(example.provider.table.slice(0, 0)))
