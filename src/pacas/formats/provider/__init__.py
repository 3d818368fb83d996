"""`provider.toml` and the files it names, as a provider's terms."""
