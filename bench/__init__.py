"""Benchmarks of Spillway against its peers: `python -m bench engine`."""
