"""Benchmarks behind one protocol."""
