"""`pacas distance`: how far apart two values are."""

from __future__ import annotations

from typing import Annotated

import typer

from pacas.cli.data_options import AS_NAMED, AnyData, HierarchyOption, HowToRead, read_hierarchies, says_how_to_read
from pacas.cli.options import Json, out, print_json, printable
from pacas.engine.questions import semantic_distance
from pacas.errors import SchemaError


@says_how_to_read
def command(
    data: AnyData,
    attribute: Annotated[str, typer.Argument(metavar="ATTR", help="The attribute that the values belong to.")],
    v: Annotated[str, typer.Argument(metavar="V", help="A value, ground or general (a negative one goes after '--').")],
    w: Annotated[str, typer.Argument(metavar="W", help="Another one.")],
    hierarchy: HierarchyOption = None,
    read: HowToRead = AS_NAMED,
    json: Json = False,
) -> None:
    """Measure the semantic distance of two values: the information lost on the way from one to the other.

    JSON: distance, penalties (of V and of W), lca, left_out (cells that did not count: null or general)

    Example: pacas distance sp.csv AGE 45 51 --hierarchy AGE=age.csv
    """
    hierarchies = read_hierarchies(hierarchy)
    with read.opened(data) as (asked, source, tell):
        for named in hierarchies:
            if named not in source.columns:
                raise SchemaError.missing(named, source.columns, source.name)
        tell(f"counting {attribute}")
        delta = semantic_distance(source, attribute, hierarchies.get(attribute), engine=asked)
    values = (v or None, w or None)  # an empty value is null, as in a cell
    distance, penalties, lca = delta(*values), [delta.penalty(value) for value in values], delta.lca(*values)
    if json:
        print_json({"distance": distance, "penalties": penalties, "lca": lca, "left_out": delta.left_out})
        return
    out.print(f"distance  {distance:.6g}")
    for value, penalty in zip(values, penalties, strict=True):
        unknown = "" if value in delta.hierarchy else "  (not in the hierarchy: a leaf under the root)"
        out.print(f"E({printable(value)})  {penalty:.6g}{unknown}")
    out.print(f"meet in  {printable(lca)}")
    if delta.left_out:
        out.print(f"{delta.left_out:,} cells did not count: null or general")
