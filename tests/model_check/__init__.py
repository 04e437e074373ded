"""Exhaustive model check of the memory rules R1-R12."""
