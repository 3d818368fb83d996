"""Commands of a provider: `pacas account`, `audit`, `query`, `serve`."""
