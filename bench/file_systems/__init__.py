"""The tasks about files, one file a library: as `bench.systems`."""
