"""Random notebooks of ordinary work that does not fit, each in a real kernel under a hard limit."""
