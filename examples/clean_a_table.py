"""A client: an insurer's table contradicts itself, and a register of occupations sells what could settle it.

What the insurer's own rows settle is repaired for nothing. Money goes where they do not.

Run it: python examples/clean_a_table.py
"""

import pacas

# The insurer's table. Who has the same employer and grade should have the same occupation.
INSURED = {
    "person": ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"],
    "employer": ["clinic", "clinic", "clinic", "airline", "airline", "airline", "school", "depot"],
    "grade": ["B", "B", "B", "C", "C", "C", "A", "A"],
    "occupation": ["nurse", "nurse", "welder", "pilot", "driver", "surgeon", "teacher", "dispatcher"],
}

# The register knows better. It sells an occupation to who names the person, but never so exactly that fewer than three
# occupations stay possible: "health" leaves three, "nurse" would leave one. Its quotes are sealed, and tell nothing:
# every family has three members, so that everybody is sold at the same level for the same price.
REGISTER = {
    "person": ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"],
    "occupation": ["nurse", "nurse", "nurse", "pilot", "pilot", "pilot", "teacher", "dispatcher"],
}
OCCUPATIONS = pacas.Hierarchy.from_rows(
    [
        ("nurse", "health", "*"),
        ("surgeon", "health", "*"),
        ("pharmacist", "health", "*"),
        ("pilot", "transport", "*"),
        ("driver", "transport", "*"),
        ("dispatcher", "transport", "*"),
        ("welder", "other", "*"),
        ("teacher", "other", "*"),
        ("baker", "other", "*"),
    ]
)


def register() -> pacas.Provider:
    """Somebody else's, in practice; here it runs in the same process."""
    return pacas.Provider(
        REGISTER,
        match={"occupation": "person = person"},
        policies=[pacas.Policy(x=("person",), y=("occupation",), k=3)],
        hierarchies={"occupation": OCCUPATIONS},
        total=8,
    )


def main() -> None:
    cleaner = pacas.SafeClean(["employer, grade -> occupation"], budget=2)
    result = cleaner.clean(INSURED, register())

    print(f"violations: {result.violations_before} before, {result.violations_after} after")
    print(f"spent: {result.spent} of {result.budget} credits")
    for purchase in result.purchases:
        print(f"bought: {purchase.value}, by asking about {INSURED['person'][purchase.row]}")
    # At the clinic two agree against one. At the airline all three differ: "transport" rules the surgeon out, and
    # leaves pilot and driver as likely as each other. So that cell becomes general, and the other two stay.
    assert result.weighing is not None
    print(f"cells repaired: {result.weighing.free} for nothing, {result.weighing.paid} by what was bought\n")

    before = INSURED["occupation"]
    for row, (old, now) in enumerate(zip(before, result.relation.table["occupation"].to_pylist(), strict=True)):
        print(f"{INSURED['person'][row]}  {old}" + (f" -> {now}" if now != old else ""))

    print("\nWhy row 2?")
    print(pacas.explain(result, 2, "occupation"))

    print("\nWhat should somebody look at?")
    for cell in result.weighing.doubtful:
        print(f"{INSURED['person'][cell.row]}  {cell.value}, or any other {cell.guess} ({cell.sure:.0%} sure)")

    print("\nHow good is it?")
    print(result.score(REGISTER))
    # pacas.write_report("report.html", result) puts it all on a page.


if __name__ == "__main__":
    main()
