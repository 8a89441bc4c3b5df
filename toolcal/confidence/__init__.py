"""The confidence study: what search and code do to the confidence that a model states (method B)."""
