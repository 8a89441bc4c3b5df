"""Exports that other tools open: logs of Inspect, and a data set folder for Hugging Face's library `datasets`."""
