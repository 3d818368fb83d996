"""Equivalence classes and their errors, kept current while cells change."""
