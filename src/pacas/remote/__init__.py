"""A provider's server as its client sees it: a marketplace like the provider itself."""
