"""The libraries that run functions in worker processes."""
