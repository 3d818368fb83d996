"""The pages of a review, a module each: what is asked for, as what a template shows."""
