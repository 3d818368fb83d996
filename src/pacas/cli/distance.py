"""`pacas distance`: how far apart two values are."""

from __future__ import annotations

from typing import Annotated

import typer

from pacas.cli.options import Data, HierarchyOption, Json, out, print_json, progress, read_hierarchies
from pacas.engine.questions import semantic_distance
from pacas.formats.relations import scan_relation


def command(
    data: Data,
    attribute: Annotated[str, typer.Argument(metavar="ATTR", help="The attribute that the values belong to.")],
    v: Annotated[str, typer.Argument(metavar="V", help="A value, ground or general.")],
    w: Annotated[str, typer.Argument(metavar="W", help="Another one.")],
    hierarchy: HierarchyOption = None,
    json: Json = False,
) -> None:
    """Measure the semantic distance of two values: the information lost on the way from one to the other.

    Example: pacas distance sp.csv AGE 45 51 --hierarchy AGE=age.csv
    """
    source = scan_relation(data)
    hierarchies = read_hierarchies(hierarchy)
    with progress() as tell:
        tell(f"counting {attribute}")
        delta = semantic_distance(source, attribute, hierarchies.get(attribute))
    distance, penalties, lca = delta(v, w), [delta.penalty(v), delta.penalty(w)], delta.lca(v, w)
    if json:
        print_json({"distance": distance, "penalties": penalties, "lca": lca, "left_out": delta.left_out})
        return
    out.print(f"distance  {distance:.6g}", markup=False)
    for value, penalty in zip((v, w), penalties, strict=True):
        unknown = "" if value in delta.hierarchy else "  (not in the hierarchy: a leaf under the root)"
        out.print(f"E({value})  {penalty:.6g}{unknown}", markup=False)
    out.print(f"meet in  {lca}", markup=False)
    if delta.left_out:
        out.print(f"{delta.left_out:,} cells did not count: null or general", markup=False)
