"""Files to start from: `client.toml` and `provider.toml`, written with the reasons for every line."""
