"""Elements for other frameworks: `to_torch`, `to_jax` and `to_tf` (docs/handover.md)."""
