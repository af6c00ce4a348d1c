"""A fuzzer of our own: random fits, files and commands, and what must hold of each of them.

``make fuzz ARGS="--minutes 30"`` runs it for a given time;
``test_fuzz.py`` runs a little of it with the tests.
"""
