"""Conversations with a user who speaks freely, held here: tau2's own orchestrator, environment and evaluator, with any
model of the configuration as agent and as user."""
