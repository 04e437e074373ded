"""Random expressions under random limits: planned is never less than measured, nothing is killed."""
