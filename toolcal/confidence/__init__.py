"""The confidence study: what search and code do to a verbalised confidence (part B of the method)."""
