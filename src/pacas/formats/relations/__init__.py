"""Tables in, tables out: reading relations, and writing them with some cells changed."""
