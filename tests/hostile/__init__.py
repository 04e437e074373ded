"""Hostile arguments: every op, operator and source given what nobody should give it."""
