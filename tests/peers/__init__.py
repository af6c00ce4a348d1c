"""scikit-learn's own tests with our classes in the place of theirs.

Nothing is copied: the test modules come from the installed package. Each runs twice, once as it is and once
with the classes of :mod:`classes <peers.classes>` swapped; what passes for scikit-learn must pass for us, or
stand in ``departures.toml`` with its reason. ``python -m tests.peers`` prints the comparison.
"""
