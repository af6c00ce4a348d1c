"""Failures that are known and not mended yet are listed, not hidden: ``--open-failures`` runs them, too."""

from pathlib import Path


def pytest_collection_modifyitems(config, items):
    """Leave out what is listed as open."""
    if config.getoption("--open-failures"):
        return
    listed = set((Path(__file__).parent / "open_failures.txt").read_text().splitlines())
    left_out = [item for item in items if item.nodeid in listed]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.nodeid not in listed]
