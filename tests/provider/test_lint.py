"""The linter: each rule fires on a small table that it is about, and not on one that is mended."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchies.balance import balance
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.provider.lint.finding import ProviderFinding
from pacas.provider.lint.lint import lint_provider
from pacas.provider.quoter.declared import DeclaredDependency, Sealing

ENGINE = DuckEngine(threads=1)
ROWS = 120
DRUGS = Hierarchy.from_rows([(f"{family}{i}", family, "*") for family in "abc" for i in range(4)])
"""Twelve values in three families of four."""
CODES = Hierarchy.from_rows([(f"n{i}", f"m{i // 4}", "*") for i in range(12)])
PLAIN = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True, scope="row")
"""What nothing is wrong with: everybody is protected, and groups are large."""


def table(**columns: Sequence[str]) -> dict[str, list[str]]:
    """People who are found by a number each, in four X-groups, with a drug that follows from nothing."""
    random = np.random.default_rng(5)
    made = {
        "ID": [str(i) for i in range(ROWS)],
        "X": [f"x{i}" for i in random.integers(0, 4, ROWS)],
        "MED": random.choice(DRUGS.ground_labels, ROWS).tolist(),
    }
    return made | {name: list(values) for name, values in columns.items()}


def given(quotes: str, declared: Sequence[DeclaredDependency] = ()) -> dict[str, Any]:
    """What makes a provider's quotes sealed, or the paper's."""
    return {"sealing": Sealing(declared)} if quotes == "sealed" else {"support": pacas.Generated()}


def lint(
    people: Mapping[str, Sequence[str]],
    *policies: pacas.Policy,
    match: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    quotes: str = "sealed",
    declared: Sequence[DeclaredDependency] = (),
    published: Sequence[str] = (),
    max_matches: int = 1000,
    **options: Any,
) -> list[ProviderFinding]:
    relation = pacas.Relation.of(people)
    provider = pacas.Provider(
        relation,
        match=match or {"MED": "ID = ID"},
        policies=policies or (PLAIN,),
        hierarchies={"MED": DRUGS, **(hierarchies or {})},
        total=100,
        published=published,
        max_matches=max_matches,
        engine=ENGINE,
        **given(quotes, declared),
    )
    return can_be_pasted(lint_provider(provider, ENGINE, relation, **options))


@pytest.mark.parametrize("declared", [False, True])
def test_what_a_published_dependency_tells_is_said_and_warned_of_where_it_is_not_declared(declared: bool) -> None:
    drug_of = dict(enumerate(DRUGS.ground_labels))
    people = table(X=[f"x{i % 12}" for i in range(ROWS)], MED=[drug_of[i % 12] for i in range(ROWS)])
    fds = [DeclaredDependency(FunctionalDependency(("X",), "MED"))] if declared else []
    findings = lint(people, published=["X -> MED", "ID -> X"], match={"MED": "X = X"}, declared=fds)
    told = {one.attribute: one for one in findings if one.rule == "published-dependency"}
    assert {name: one.severity for name, one in told.items()} == {"MED": "note" if declared else "warning", "X": "note"}
    assert told["MED"].says.endswith("who knows MED of one person knows it of everybody with the same X")
    assert told["X"].says.endswith("and that there is a column ID")
    assert told["X"].remedy == 'publish_dependencies = ["X -> MED"]'


def can_be_pasted(findings: list[ProviderFinding]) -> list[ProviderFinding]:
    """Every remedy is a command, or TOML that says something."""
    for remedy in (finding.remedy for finding in findings if not finding.remedy.startswith("pacas ")):
        assert tomllib.loads(remedy) and "…" not in remedy
    return findings


def rules(findings: Sequence[ProviderFinding]) -> dict[str, str]:
    return {finding.rule: finding.severity for finding in findings}


def the(rule: str, findings: Sequence[ProviderFinding]) -> ProviderFinding:
    (found,) = [finding for finding in findings if finding.rule == rule]
    return found


def test_there_is_nothing_to_mend_where_nothing_is_wrong() -> None:
    assert lint(table()) == []


# ---- undeclared dependencies -----------------------------------------------------------------------------------------

SOLD = {"MED": "ID = ID", "NUM": "ID = ID"}
NUMBER_OF = dict(zip(DRUGS.ground_labels, CODES.ground_labels, strict=True))
"""Each drug has its own number."""


def numbers(wrong: int = 0) -> list[str]:
    """The number of everybody's drug; of some people, another one."""
    found = [NUMBER_OF[drug] for drug in table()["MED"]]
    return [CODES.ground_labels[(CODES.ground_labels.index(n) + (i < wrong)) % 12] for i, n in enumerate(found)]


def test_a_sold_column_that_determines_a_protected_one_is_an_error() -> None:
    found = the("told-by", lint(table(NUM=numbers()), match=SOLD, hierarchies={"NUM": CODES}))
    assert (found.severity, found.attribute, found.people) == ("error", "MED", ROWS)
    assert found.remedy == '[[dependency]]\nfd = "NUM -> MED"\ndictionary = "NUM_MED.csv"'
    assert not any(value in found.says + found.remedy for value in (*DRUGS.ground_labels, *CODES.ground_labels))


def test_it_is_none_once_it_is_declared() -> None:
    pairs = tuple({"NUM": number, "MED": drug} for drug, number in NUMBER_OF.items())
    declared = [DeclaredDependency(FunctionalDependency(("NUM",), "MED"), pairs)]
    findings = lint(table(NUM=numbers()), match=SOLD, hierarchies={"NUM": CODES}, declared=declared)
    assert "told-by" not in rules(findings)


def test_one_that_holds_for_most_is_a_warning_and_the_share_is_an_option() -> None:
    people = table(NUM=numbers(wrong=4))
    found = the("told-by", lint(people, match=SOLD, hierarchies={"NUM": CODES}, share=0.9))
    assert (found.severity, found.people) == ("warning", ROWS - 4)
    assert found.remedy == "[match]  # without NUM"
    assert "told-by" not in rules(lint(people, match=SOLD, hierarchies={"NUM": CODES}, share=0.99))


def test_with_the_papers_quotes_the_remedy_begins_with_sealed_ones() -> None:
    policy = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)
    findings = lint(table(NUM=numbers()), policy, match=SOLD, hierarchies={"NUM": CODES}, quotes="paper")
    assert the("told-by", findings).remedy.startswith('[pricing]\nquotes = "sealed"  # and')


def test_two_columns_that_determine_it_together_are_found_and_neither_alone() -> None:
    drugs = [DRUGS.ground_labels.index(drug) for drug in table()["MED"]]
    two = {"ROW": [f"r{i // 4}" for i in drugs], "PLACE": [f"p{i % 4}" for i in drugs]}
    trees = {name: Hierarchy.flat(dict.fromkeys(values)) for name, values in two.items()}
    sold = {name: "ID = ID" for name in ("MED", "ROW", "PLACE")}
    found = the("told-by", lint(table(**two), match=sold, hierarchies=trees))
    assert '"ROW, PLACE -> MED"' in found.remedy


def test_labels_of_a_hierarchy_are_found_where_its_values_are_nearly_a_key() -> None:
    """A receipt number is everybody's own; its first letters are the drug's."""
    drugs = table()["MED"]
    receipts = [f"{drug}-{i}" for i, drug in enumerate(drugs)]
    tree = Hierarchy.from_rows([(receipt, f"of {receipt.split('-')[0]}", "*") for receipt in receipts])
    sold = {"MED": "ID = ID", "RECEIPT": "ID = ID"}
    found = the("told-by", lint(table(RECEIPT=receipts), match=sold, hierarchies={"RECEIPT": tree}))
    assert "RECEIPT (sold), at level 1, determines MED" in found.says
    assert found.remedy == "[match]  # without RECEIPT"


def test_a_public_column_that_determines_it_ties_rows() -> None:
    """Who buys the drug of one person of a ward knows that of all."""
    drugs = table()["MED"]
    people = table(WARD=[f"ward of {drug}" for drug in drugs])
    sold = {"MED": "ID = ID, WARD = WARD"}
    group = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)
    found = the("told-by", lint(people, group, match=sold))
    assert (found.severity, found.remedy) == ("error", '[[dependency]]\nfd = "WARD -> MED"')
    tied = [DeclaredDependency(FunctionalDependency(("WARD",), "MED"))]
    assert "told-by" not in rules(lint(people, group, match=sold, declared=tied))


def test_a_public_column_that_determines_labels_alone_cannot_be_declared() -> None:
    """Who knows the clinic knows the family of the drug, and a policy cannot hide it."""
    people = table(CLINIC=[f"clinic for {drug[0]}" for drug in table()["MED"]])
    families = pacas.Policy(("X",), ("MED",), {"MED": 1}, 2, True)
    found = the("told-by", lint(people, families, match={"MED": "ID = ID, CLINIC = CLINIC"}))
    assert found.severity == "error" and found.remedy.startswith("levels = { MED = 0 }")


def test_what_public_columns_make_likely_is_not_ours_to_mend() -> None:
    drugs = table()["MED"]
    wards = [f"ward of {drug}" if i >= 4 else "ward of none" for i, drug in enumerate(drugs)]
    findings = lint(table(WARD=wards), match={"MED": "ID = ID, WARD = WARD"}, share=0.9)
    assert "told-by" not in rules(findings)


def test_a_column_that_nearly_tells_by_itself_is_not_found_again_with_every_other() -> None:
    """With AGE beside it, NUM is right a little more often, by chance; NUM alone is what tells."""
    ages = [str(i % 7) for i in range(ROWS)]
    people, trees = table(NUM=numbers(wrong=8), AGE=ages), {"NUM": CODES, "AGE": Hierarchy.flat(dict.fromkeys(ages))}
    assert "told-by" not in rules(lint(people, match={**SOLD, "AGE": "ID = ID"}, hierarchies=trees))


@pytest.mark.parametrize("kind", ["a key", "by chance", "nearly constant"])
def test_a_column_that_only_seems_to_determine_it_is_not_found(kind: str) -> None:
    random = np.random.default_rng(3)
    people = table()
    if kind == "a key":
        people["NUM"] = [str(i) for i in range(ROWS)]
    elif kind == "by chance":
        people["NUM"] = [str(i) for i in random.integers(0, ROWS // 2, ROWS)]
    else:  # whatever NUM is, a1 is a good guess
        people["MED"] = ["a1"] * (ROWS - 4) + ["b1"] * 4
        people["NUM"] = random.choice(["u", "v"], ROWS).tolist()
    tree = Hierarchy.flat(dict.fromkeys(people["NUM"]))
    assert "told-by" not in rules(lint(people, match=SOLD, hierarchies={"NUM": tree}))


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_a_policy_that_leaves_no_safe_level_refuses_everything() -> None:
    """No family has five values; protected are all."""
    strict = pacas.Policy(("X",), ("MED",), {"MED": 0}, 5, True, scope="row")
    found = the("sells-nothing", lint(table(), strict, files={"MED": "drugs.csv"}))
    assert (found.severity, found.people) == ("error", ROWS)
    assert found.remedy == "pacas hierarchy balance drugs.csv --level 0 --k 5 --output drugs.csv"


def test_an_attribute_that_a_dictionary_links_to_a_protected_one_may_have_no_level_that_is_safe() -> None:
    """Its number tells the drug, and there is nothing between the number and the root."""
    pairs = tuple({"NUM": number, "MED": drug} for drug, number in NUMBER_OF.items())
    findings = lint(
        table(NUM=numbers()),
        match=SOLD,
        hierarchies={"NUM": Hierarchy.flat(CODES.ground_labels)},
        declared=[DeclaredDependency(FunctionalDependency(("NUM",), "MED"), pairs)],
    )
    found = the("sells-nothing", findings)
    assert (found.attribute, found.people) == ("NUM", ROWS) and found.remedy.startswith("[hierarchies]\nNUM = ")


def test_requests_that_always_find_several_people_are_refused() -> None:
    policy = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3)
    found = the("sells-nothing", lint(table(), policy, match={"MED": "X = X"}))
    assert (found.severity, found.remedy) == ("error", '[[dependency]]\nfd = "X -> MED"')


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_requests_that_find_more_people_than_they_may_are_told_so(quotes: str) -> None:
    """Even where these have one value: the number alone is why."""
    drug_of = dict(enumerate(DRUGS.ground_labels))
    people = table(X=[f"x{i % 12}" for i in range(ROWS)], MED=[drug_of[i % 12] for i in range(ROWS)])
    fds = [DeclaredDependency(FunctionalDependency(("X",), "MED"))] if quotes == "sealed" else []
    idle = pacas.Policy(("X",), ("MED",), {"MED": 0}, 1, True)
    few, enough = (
        lint(people, idle, match={"MED": "X = X"}, quotes=quotes, declared=fds, max_matches=n) for n in (9, 100)
    )
    found = the("sells-nothing", few)
    assert found.says.endswith("requests find more rows by X than max_matches = 9 lets them")
    assert found.remedy == "max_matches = 100"
    assert "sells-nothing" not in rules(enough)


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_a_policy_that_anything_keeps_refuses_nothing(quotes: str) -> None:
    idle = pacas.Policy(("X",), ("MED",), {"MED": 0}, 1, True)
    found = the("refuses-nothing", lint(table(), idle, quotes=quotes))
    assert (found.severity, found.attribute, found.remedy) == ("error", "MED", "k = 2")


def test_a_policy_about_what_is_not_sold_refuses_nothing() -> None:
    unsold = pacas.Policy(("X",), ("NUM",), {"NUM": 0}, 2)
    findings = lint(table(NUM=["n1"] * ROWS), PLAIN, unsold, hierarchies={"NUM": CODES})
    assert rules(findings) == {"refuses-nothing": "note"}


def test_with_the_papers_quotes_groups_that_are_diverse_themselves_are_a_note() -> None:
    policy = pacas.Policy(("X",), ("MED",), {"MED": 0}, 2, True)
    found = the("refuses-nothing", lint(table(), policy, quotes="paper"))
    assert found.severity == "note" and "itself" in found.says


def test_rows_without_an_x_group_are_protected_by_no_policy() -> None:
    found = the("refuses-nothing", lint(table(X=[""] * ROWS), pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)))
    assert found.severity == "error" and "null in X" in found.says and found.remedy == 'x = ["ID"]'


# ---- hierarchies -----------------------------------------------------------------------------------------------------

UNEVEN = Hierarchy.from_rows([*(row for row in DRUGS.rows() if row[1] != "c"), ("c0", "c", "*")])
"""The third family has one value."""


def uneven() -> dict[str, list[str]]:
    people = table()
    return people | {"MED": ["c0" if drug[0] == "c" else drug for drug in people["MED"]]}


def test_families_smaller_than_k_are_a_warning_with_the_command_that_mends_them() -> None:
    people = uneven()
    found = the("small-families", lint(people, hierarchies={"MED": UNEVEN}, files={"MED": "drugs.csv"}))
    assert (found.severity, found.people) == ("warning", people["MED"].count("c0"))
    assert found.remedy == "pacas hierarchy balance drugs.csv --level 0 --k 3 --output drugs.csv"


def test_what_a_fifth_of_the_people_find_several_others_by_is_sold_of_the_others_only() -> None:
    people = table(KEY=[str(max(i, ROWS // 5)) for i in range(ROWS)])
    findings = lint(people, pacas.Policy(("KEY",), ("MED",), {"MED": 0}, 3, scope="row"), match={"MED": "KEY = KEY"})
    found = the("sells-little", findings)
    assert (found.severity, found.people) == ("warning", ROWS // 5 + 1)
    assert found.remedy == '[[dependency]]\nfd = "KEY -> MED"'


def test_a_family_that_is_far_larger_than_most_is_told_of() -> None:
    sizes = [2] * 5 + [11]
    rows = [(f"v{f}{i}", f"f{f}", "*") for f, size in enumerate(sizes) for i in range(size)]
    tree = Hierarchy.from_rows(rows)
    people = table(MED=[rows[i % len(rows)][0] for i in range(ROWS)])
    found = the("uneven", lint(people, replace(PLAIN, k=2), hierarchies={"MED": tree}))
    assert (found.severity, found.says.split(" has ")[1].split(",")[0]) == ("note", "labels for 2 to 11 values")
    assert "uneven" not in rules(lint(people, replace(PLAIN, k=2), hierarchies={"MED": balance(tree, 0, 5)}))


def test_a_balanced_hierarchy_has_none() -> None:
    assert lint(uneven(), hierarchies={"MED": balance(UNEVEN, 0, 3)}) == []


@pytest.mark.parametrize(("quotes", "severity"), [("sealed", "note"), ("paper", "warning")])
def test_only_children_of_what_is_sold_and_not_protected(quotes: str, severity: str) -> None:
    people = uneven() | {"NUM": numbers()}
    policy = pacas.Policy(("X",), ("NUM",), {"NUM": 0}, 2, True)
    findings = lint(
        people,
        policy,
        match={"MED": "ID = ID"},
        hierarchies={"MED": UNEVEN, "NUM": CODES},
        quotes=quotes,
    )
    found = the("only-child", findings)
    assert (found.severity, found.people) == (severity, people["MED"].count("c0"))
    assert found.remedy == "pacas hierarchy balance MED.csv --level 0 --k 2 --output MED.csv"


# ---- who is singled out ----------------------------------------------------------------------------------------------


def test_x_groups_of_one_are_counted_and_the_column_is_named_that_makes_them() -> None:
    random = np.random.default_rng(2)
    people = table(AGE=[str(age) for age in random.integers(0, 100, ROWS)])
    policy = pacas.Policy(("X", "AGE"), ("MED",), {"MED": 0}, 3, True)
    alone = sum(list(zip(people["X"], people["AGE"], strict=True)).count(who) == 1
                for who in zip(people["X"], people["AGE"], strict=True))  # fmt: skip
    found = the("rare-groups", lint(people, policy))
    assert (found.severity, found.people) == ("warning", alone)
    assert found.remedy.startswith('x = ["X"]  # leaves 0 of')
    assert "rare-groups" not in rules(lint(people, replace(policy, scope="row")))
    keyed = pacas.Policy(("ID",), ("MED",), {"MED": 0}, 3)
    assert the("rare-groups", lint(people, keyed)).remedy.startswith('scope = "row"')
    both = pacas.Policy(("X", "ID"), ("MED",), {"MED": 0}, 3)
    assert the("rare-groups", lint(people, both)).remedy.splitlines()[1] == "allow_linkage = true"


def test_a_match_finer_than_x_singles_people_out_unless_every_row_is_protected() -> None:
    group = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)
    found = the("finer-than-x", lint(table(), group))
    assert (found.severity, found.attribute, found.people) == ("warning", "MED", ROWS)
    assert found.remedy.startswith('scope = "row"')
    assert the("finer-than-x", lint(table(), group, quotes="paper")).remedy == 'x = ["X", "ID"]'
    assert "finer-than-x" not in rules(lint(table(), PLAIN))


# ---- the terms -------------------------------------------------------------------------------------------------------


def test_the_papers_quotes_and_no_policy_are_warnings() -> None:
    relation = pacas.Relation.of(table())
    provider = pacas.Provider(
        relation, match={"MED": "ID = ID"}, hierarchies={"MED": DRUGS}, total=100, **given("paper")
    )
    findings = can_be_pasted(lint_provider(provider, ENGINE, relation))
    assert rules(findings) == {"unprotected": "warning", "free-quotes-tell": "warning"}
    assert the("unprotected", findings).remedy == '[[policy]]\nx = ["ID"]\ny = ["MED"]\nk = 2'


@pytest.mark.parametrize(("drugs", "severity"), [(12, "note"), (120, "warning")])
def test_where_nobody_is_found_alone_no_policy_is_a_note(drugs: int, severity: str) -> None:
    people = {"X": [f"x{i % drugs}" for i in range(ROWS)], "MED": [DRUGS.ground_labels[i % 12] for i in range(ROWS)]}
    relation = pacas.Relation.of(people)
    sealing = Sealing([DeclaredDependency(FunctionalDependency(("X",), "MED"))])
    provider = pacas.Provider(relation, match={"MED": "X = X"}, hierarchies={"MED": DRUGS}, sealing=sealing, total=9)
    assert the("unprotected", lint_provider(provider, ENGINE, relation)).severity == severity


def test_of_many_rows_some_are_quoted_and_what_is_estimated_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What dependencies and X-groups come to is counted in all rows; what quotes come to follows from some."""
    policy = pacas.Policy(("ID",), ("MED",), {"MED": 0}, 5, scope="row")
    people = table(NUM=numbers())
    exact = lint(people, policy, match=SOLD, hierarchies={"NUM": CODES})
    monkeypatch.setattr("pacas.provider.lint.free_quotes.MANY", 50)
    found = lint(people, policy, match=SOLD, hierarchies={"NUM": CODES})
    assert rules(found) == rules(exact) and "not-looked-at" not in rules(found)
    sold = the("sells-nothing", found)
    assert (sold.people, sold.estimated) == (ROWS, True)
    assert "of 100% of the people (± 0.0%, by 50 of them): " in sold.says
    assert not the("sells-nothing", exact).estimated and not the("told-by", found).estimated
    assert the("told-by", found).people == the("told-by", exact).people == ROWS


def test_a_share_of_some_rows_says_how_far_it_may_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the people share what they are found by; 50 of 120 were asked."""
    monkeypatch.setattr("pacas.provider.lint.free_quotes.MANY", 50)
    people = table(ID=[f"id{max(i, 24)}" for i in range(ROWS)])
    says = the("sells-little", lint(people, match={"MED": "ID = ID"})).says
    found = re.search(r"of (\d+)% of the people \(± (\d+\.\d)%, by 50 of them\)", says)
    assert found is not None
    share, margin = int(found[1]) / 100, float(found[2]) / 100
    assert abs(share - 25 / ROWS) <= margin
    assert abs(margin - 1.96 * (share * (1 - share) / 50 * (1 - 50 / ROWS)) ** 0.5) <= 0.001


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_a_policy_that_nothing_is_refused_for_in_some_rows_is_looked_at_in_all(
    quotes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacas.provider.lint.free_quotes.MANY", 5)
    idle = pacas.Policy(("X",), ("MED",), {"MED": 0}, 1, True)
    assert "refuses-nothing" in rules(lint(table(), idle, quotes=quotes))
    useful = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)
    assert "refuses-nothing" not in rules(lint(table(X=["x"] * 118 + ["y"] * 2), useful, quotes=quotes))


def test_where_people_are_found_by_likeness_some_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.provider.lint.free_quotes.FEW", 50)
    people = table(NUM=numbers())
    sold = {"MED": "ID ~ ID edit 0.9", "NUM": "ID = ID"}
    findings = lint(people, match=sold, hierarchies={"NUM": CODES})
    assert rules(findings) == {"told-by": "error", "not-looked-at": "note"}
    assert the("not-looked-at", findings).says.startswith("50 rows were quoted, so that policies that refuse nothing")


@pytest.mark.parametrize("quotes", ["sealed", "paper"])
def test_of_a_relation_on_the_engine_some_rows_are_looked_at_and_it_says_so(
    quotes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that may hold next to nothing: what is found is found in a sample."""
    monkeypatch.setattr("pacas.provider.lint.own_rows.MOST_OF_A_LARGE_RELATION", 60)
    relation = pacas.Relation.of(table(NUM=numbers()))
    engine = DuckEngine(threads=1)
    monkeypatch.setattr(engine, "holdable_bytes", 1_000)
    policy = pacas.Policy(("X",), ("MED",), {"MED": 0}, 3, True)
    provider = pacas.Provider(
        relation,
        match=SOLD,
        policies=[policy],
        hierarchies={"MED": DRUGS, "NUM": CODES},
        total=100,
        engine=engine,
        **given(quotes),
    )
    findings = can_be_pasted(lint_provider(provider, engine, relation))
    left_out = the("not-looked-at", findings).says
    assert left_out.startswith("60 of 120 rows were looked at") and "policies that refuse everything" in left_out
    found = the("told-by", findings)
    assert (found.severity, found.attribute) == ("error", "MED") and ROWS - 20 <= found.people <= ROWS
    assert "rare-groups" not in rules(findings)


def test_a_left_side_that_is_only_declared_is_looked_at_on_the_engine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """WARD is neither in X nor in a match."""
    monkeypatch.setattr("pacas.provider.lint.own_rows.MOST_OF_A_LARGE_RELATION", 60)
    relation = pacas.Relation.of(table(WARD=[f"ward of {drug}" for drug in table()["MED"]]))
    engine = DuckEngine(threads=1)
    monkeypatch.setattr(engine, "holdable_bytes", 1_000)
    provider = pacas.Provider(
        relation,
        match={"MED": "ID = ID"},
        policies=[PLAIN],
        hierarchies={"MED": DRUGS},
        total=100,
        engine=engine,
        **given("sealed", [DeclaredDependency(FunctionalDependency(("WARD",), "MED"))]),
    )
    assert rules(lint_provider(provider, engine, relation)) == {"not-looked-at": "note"}
