"""Asking a marketplace what a class would cost, and paying for one value of it, within an allowance."""
