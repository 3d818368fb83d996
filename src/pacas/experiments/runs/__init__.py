"""The figures of the evaluation as settings, and the runs that measure them."""
