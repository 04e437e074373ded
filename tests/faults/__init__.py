"""Faults of worker processes: kills at random and at every step, each fault of the table."""
