"""Runs that were made elsewhere, read from the files in which they were published."""
