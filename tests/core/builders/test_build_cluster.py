from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import cluster
from pacas.core.builders.cluster import MOST_CONTEXTS, MOST_VALUES
from pacas.errors import HierarchyError

JOBS = ["nurse", "nurse", "midwife", "smith", "smith", "mason"]
SEX = ["F", "M", "F", "M", "F", "M"]
COUNTS = [8, 2, 5, 18, 1, 7]


def test_categories_with_like_profiles_share_a_cluster():
    assert {row[0]: row[1] for row in cluster(JOBS, SEX, COUNTS, clusters=[2]).rows()} == {
        "nurse": "{nurse +1 more}",
        "midwife": "{nurse +1 more}",
        "smith": "{smith +1 more}",
        "mason": "{smith +1 more}",
    }


def test_profiles_are_shares_not_counts():
    built = cluster(["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"], [500, 500, 1, 1, 500], clusters=[2])
    assert built.generalize_value("a", 1) == built.generalize_value("b", 1) != built.generalize_value("c", 1)


def test_a_cluster_of_one_is_not_its_value():
    built = cluster(JOBS, SEX, COUNTS, clusters=[3, 2])
    assert built.generalize_value("nurse", 1) == "{nurse}"
    assert built.generalize_value("nurse", 2) == "{nurse +1 more}"


def test_labels_never_collide_with_values_that_look_like_labels(assert_tree):
    values = ["a", "b", "{a}", "{{a}}", "{a +1 more}", "a +1 more"]
    built = cluster(values, ["x", "x", "y", "z", "w", "v"], [9, 1, 2, 3, 4, 5], clusters=[5, 4, 3, 2])
    assert_tree(built, values)


def test_the_order_of_the_rows_does_not_matter(adult, contingency):
    counted = contingency(adult["occupation"], adult["education"])
    triples = list(zip(counted.values, counted.targets, counted.counts, strict=True))
    expected = list(cluster(*zip(*triples, strict=True)).rows())
    random.Random(1).shuffle(triples)
    assert list(cluster(*zip(*triples, strict=True)).rows()) == expected


def test_unless_told_otherwise_makes_8_and_3_clusters_where_there_are_more_values():
    names = [f"c{i}" for i in range(12)]
    assert [len(cluster(names, names, [1] * 12).at_level(level)) for level in (1, 2, 3)] == [8, 3, 1]
    assert [len(cluster(names[:5], names[:5], [1] * 5).at_level(level)) for level in (1, 2)] == [3, 1]
    assert cluster(["M", "F"], ["x", "y"], [1, 1]).height == 1


@pytest.mark.parametrize("clusters", [[], [1], [2, 3], [3, 3]])
def test_numbers_of_clusters_that_do_not_nest_are_an_error(clusters):
    with pytest.raises(HierarchyError, match="clusters must"):
        cluster(JOBS, SEX, COUNTS, clusters=clusters)


def test_as_many_clusters_as_values_are_an_error():
    with pytest.raises(HierarchyError, match="clusters = 4 merges nothing: there are 4 values"):
        cluster(JOBS, SEX, COUNTS, clusters=[4, 2])


def test_too_many_values_are_an_error_that_says_how_many_will_do():
    many = [f"c{i}" for i in range(MOST_VALUES + 1)]
    with pytest.raises(HierarchyError, match=r"3,001 values are too many, at most 3,000"):
        cluster(many, ["x"] * len(many), [1] * len(many))
    with pytest.raises(HierarchyError, match=r"1,001 values to cluster by are too many, at most 1,000"):
        cluster(["a"] * (MOST_CONTEXTS + 1), many[: MOST_CONTEXTS + 1], [1] * (MOST_CONTEXTS + 1))


def test_a_value_that_is_the_root_is_an_error():
    with pytest.raises(HierarchyError, match="label of the root"):
        cluster(["*", "a"], ["x", "y"], [1, 1])


@given(
    table=st.dictionaries(
        st.tuples(st.text("ab{}+1 more", min_size=1, max_size=4), st.sampled_from("xyz")),
        st.integers(1, 9),
        min_size=1,
        max_size=25,
    )
)
def test_clusters_form_a_tree_with_exactly_so_many_nodes(assert_tree, table):
    values = [v for v, _ in table]
    names = len(set(values))
    clusters = [many for many in (6, 4, 2) if many < names] or None
    built = cluster(values, [c for _, c in table], list(table.values()), clusters=clusters)
    assert_tree(built, values)
    for level, many in enumerate(clusters or (), start=1):
        assert len(built.at_level(level)) == many


@pytest.mark.parametrize(
    ("column", "context"), [("occupation", "education"), ("native-country", "race"), ("education", "occupation")]
)
def test_agrees_with_sklearn_on_adult(adult, contingency, column, context):
    sklearn = pytest.importorskip("sklearn.cluster")
    counted = contingency(adult[column], adult[context])
    names, contexts = sorted(set(adult[column])), sorted(set(adult[context]))
    table = np.zeros((len(names), len(contexts)))
    for value, target, count in zip(counted.values, counted.targets, counted.counts, strict=True):
        table[names.index(value), contexts.index(target)] = count
    profiles = table / table.sum(axis=1, keepdims=True)
    built = cluster(counted.values, counted.targets, counted.counts, clusters=[9, 5, 2])
    for level, many in enumerate([9, 5, 2], start=1):
        model = sklearn.AgglomerativeClustering(n_clusters=many, metric="euclidean", linkage="average")
        expected = model.fit_predict(profiles)
        ours = [built.generalize_value(name, level) for name in names]
        assert len(set(zip(expected.tolist(), ours, strict=True))) == len(set(ours)) == many
