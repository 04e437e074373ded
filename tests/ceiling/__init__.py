"""The promise of a memory limit, tested: hard cases inside memory cgroups."""
