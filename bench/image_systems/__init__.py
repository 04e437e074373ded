"""One file a library: `ENVIRONMENT` names where it runs, each function builds a task's pipeline."""
