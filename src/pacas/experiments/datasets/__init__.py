"""The tables that the evaluation runs on, made or curated by counted steps."""
