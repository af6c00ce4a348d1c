"""Digits that a document shows are those that any processor prints."""

import re

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


def differing_digits(printed, shown):
    """Return the lines of a document whose digits are not those printed.

    Times are left out. A certificate may prove more than is shown, and a support vector or two may be more or
    less: where a solver stops is a matter of rounding.
    """
    wrong = []
    for ours, theirs in zip(printed.split("\n"), shown.split("\n"), strict=False):
        found, wanted = ([float(n) for n in NUMBER.findall(text)] for text in (ours, theirs))
        if theirs.startswith("time "):
            continue
        if "proved within" in theirs:
            fine = found <= wanted
        elif theirs.startswith("support vectors"):
            fine = len(found) == len(wanted) and abs(found[0] - wanted[0]) <= 2
        else:
            fine = found == wanted
        if not fine:
            wrong.append((ours, theirs))
    return wrong
