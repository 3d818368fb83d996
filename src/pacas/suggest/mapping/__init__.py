"""Which column of a client's table is which of a provider's."""
