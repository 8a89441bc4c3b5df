"""Models: whatever answers the rollout's requests. `source.open_source` opens one by its configuration entry."""
