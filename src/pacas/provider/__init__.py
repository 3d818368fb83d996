"""The party that owns curated, sensitive data."""
