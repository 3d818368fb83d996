"""The heavy relational steps, on an existing engine: one contract, DuckDB by default, Spark beyond one machine."""
