"""Reading single values off a report."""


def statuses(line):
    return {a.status for a in line.assumptions}


def fact(found, name):
    return next(f.value for f in found.facts if f.name == name)
