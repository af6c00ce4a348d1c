"""The tests: a package, so that ``python -m tests.peers`` is ours whatever else is installed as ``tests``."""
