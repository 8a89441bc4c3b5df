"""Training agents with calibration rewards, and with tool calls."""
