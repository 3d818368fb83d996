"""Functional dependencies that a dirty table almost satisfies, ranked by a score that survives errors and chance."""
