"""The tree of a log: RFC 6962's own, whatever its size; what is proved holds, and nothing else does."""

from __future__ import annotations

import pytest
from oracles import merkle

from pacas.protocol.merkle_tree import BYTES, MerkleTree, includes, is_consistent

LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
MANY = [str(number).encode() for number in range(70)]


def tree_of(leaves: list[bytes]) -> MerkleTree:
    tree = MerkleTree()
    for leaf in leaves:
        tree.extend([leaf])
    return tree


@pytest.mark.parametrize("at_a_time", [1, 2, 3, 5, 8, 69, 70])
@pytest.mark.parametrize("first", [0, 1, 2, 3, 7, 8])
def test_leaves_may_come_many_at_a_time(first: int, at_a_time: int) -> None:
    tree = tree_of(MANY[:first])
    for start in range(first, len(MANY), at_a_time):
        tree.extend(MANY[start : start + at_a_time])
        tree.extend([])
    assert [tree.root(size) for size in range(len(MANY) + 1)] == [merkle.mth(MANY[:size]) for size in range(71)]


def test_the_roots_are_those_that_certificate_transparency_tests_with() -> None:
    tree = tree_of(LEAVES)
    assert tree.root(0).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert [tree.root(size).hex() for size in range(1, 9)] == ROOTS


@pytest.mark.parametrize("size", range(1, len(MANY) + 1))
def test_roots_and_proofs_are_those_of_the_definition_and_hold(size: int) -> None:
    tree, leaves = tree_of(MANY), MANY[:size]
    root = tree.root(size)
    assert root == merkle.mth(leaves)
    for index in range(size):
        path = tree.inclusion(index, size)
        assert path == merkle.path(index, leaves)
        assert includes(root, size, index, leaves[index], path)
    for before in range(1, size + 1):
        path = tree.consistency(before, size)
        assert path == merkle.proof(before, leaves)
        assert is_consistent((before, merkle.mth(leaves[:before])), (size, root), path)
    assert is_consistent((0, merkle.mth([])), (size, root), [])


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8, 13])
def test_no_other_leaf_place_size_or_path_is_included(size: int) -> None:
    tree = tree_of(MANY[:size])
    root = tree.root()
    for index in range(size):
        path = tree.inclusion(index, size)
        assert not includes(root, size, index, b"another", path)
        assert not includes(bytes(BYTES), size, index, MANY[index], path)
        for other in {-1, *range(size + 2)} - {index}:
            assert not includes(root, size, other, MANY[index], path)
        for wrong in altered(path):
            assert not includes(root, size, index, MANY[index], wrong)


@pytest.mark.parametrize("size", [2, 3, 6, 7, 8, 13])
def test_a_tree_that_forgot_or_altered_something_has_no_consistency_proof(size: int) -> None:
    tree = tree_of(MANY[:size])
    for before in range(1, size):
        forked = tree_of([*MANY[: before - 1], b"another", *MANY[before:size]])
        path, old, new = tree.consistency(before, size), tree.root(before), tree.root()
        for found in (path, forked.consistency(before, size)):
            assert not is_consistent((before, old), (size, forked.root()), found)
        assert not is_consistent((size, new), (before, old), path)  # it went back
        assert not is_consistent((before, new), (before, old), [])
        for wrong in altered(path):
            assert not is_consistent((before, old), (size, new), wrong)


def altered(path: list[bytes]) -> list[list[bytes]]:
    flipped = [[*path[:i], bytes([one[0] ^ 1]) + one[1:], *path[i + 1 :]] for i, one in enumerate(path)]
    return [*flipped, *([path[:-1]] if path else []), [*path, bytes(BYTES)], [*path[::-1], b""]]


def test_what_the_tree_does_not_have_it_does_not_prove() -> None:
    tree = tree_of(MANY[:5])
    for call in (
        lambda: tree.root(6),
        lambda: tree.inclusion(5, 5),
        lambda: tree.inclusion(0, 6),
        lambda: tree.consistency(0, 5),
        lambda: tree.consistency(3, 2),
        lambda: tree.consistency(3, 6),
    ):
        with pytest.raises(ValueError):
            call()
