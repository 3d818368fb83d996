"""The command line: one file per command, and the place where the parts are wired together."""
