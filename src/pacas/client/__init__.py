"""The party that owns dirty data and a budget. It cannot import the provider's room."""
