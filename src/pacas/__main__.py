"""`python -m pacas`: the commands, where `pacas` is not on the path."""

from __future__ import annotations

from pacas.cli.main import main

if __name__ == "__main__":
    main()
