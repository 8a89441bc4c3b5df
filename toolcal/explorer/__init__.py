"""The explorer: pages that lead from a figure to the conversations behind it, opened from disk or from any server."""
