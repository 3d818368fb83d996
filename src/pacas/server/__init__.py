"""The provider as an HTTP service: it authenticates, limits, quotes, sells and signs."""
