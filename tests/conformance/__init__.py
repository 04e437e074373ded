"""Random pipelines, run in TensorFlow and in Spillway, and their outcomes compared."""
