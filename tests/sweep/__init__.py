"""Resident memory against the ledger, swept over rows for every operator and buffer."""
