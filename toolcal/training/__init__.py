"""Training agents with rewards for calibrated confidence, and what such rewards can and cannot bring about."""
