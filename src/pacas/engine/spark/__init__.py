"""The engine beyond one machine: Spark."""
