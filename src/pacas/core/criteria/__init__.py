"""Criteria: when the values that a group of people is linked to hide which is whose. One module a criterion."""
