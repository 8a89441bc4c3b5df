"""Corrections: what readers of the conversations say that a message's class should have been."""

CORRECTED = "corrected"
"""The labeller whose labels are those of the configuration's first one, with the corrections in their place."""
