"""Random expressions under limits: planned is never less than measured, nothing is killed."""
