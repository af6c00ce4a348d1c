"""Parameters that machines share are described once, in the class that they come from.

A class with a ``Parameters`` section describes what is its own there. The entries of its other parameters are
those of its bases, nearest first; they are put into the docstring when the class is made, in the order of the
signature, so that ``help`` and the API pages are complete.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from mercer.values import parameter_names

HEADING = "Parameters\n----------\n"


def _entries(table: str) -> dict[str, str]:
    """Return the entries of a table by the names that they describe, one or several each."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in table.splitlines(keepends=True):
        if line.startswith(" "):
            for name in names:
                found[name] += line
        else:
            names = line.partition(" : ")[0].strip().split(", ")
            found.update(dict.fromkeys(names, line))
    return found


def _parts(cls: type) -> tuple[str, dict[str, str], str]:
    """Return what stands before the table of a docstring, its entries, and what follows; else nothing."""
    doc = cls.__dict__.get("__doc__")  # none under python -OO
    if doc is None or "----------" not in doc:
        return "", {}, ""
    before, heading, rest = inspect.cleandoc(doc).partition(HEADING)
    table, _, after = rest.partition("\n\n")
    return before, _entries(table + "\n") if heading else {}, after


@cache
def _table(base: Any) -> dict[str, str]:
    return _parts(base)[1]


def describe_inherited(cls: type) -> None:
    """Put the entries of parameters that bases describe into a class's docstring.

    Parameters
    ----------
    cls : type
        A class with a signature of its own; others are left alone.
    """
    if "__init__" not in cls.__dict__:
        return
    before, own, after = _parts(cls)
    if not own:
        return
    for base in cls.__mro__[1:]:
        own = _table(base) | own
    table = dict.fromkeys(own[name] for name in parameter_names(cls) if name in own)
    cls.__doc__ = f"{before}{HEADING}{''.join(table)}\n{after}".rstrip() + "\n"


class KernelParameters:
    """What the parameters of most kernel machines mean.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name, a :class:`mercer.kernels.Kernel`, a function of two data sets that returns the kernel matrix,
        or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name, as in scikit-learn. ``gamma="scale"`` uses the weighted
        variance when sample weights are given.
    shrinking : bool, default=True
        Accepted for compatibility; working sets make a separate shrinking step needless.
    cache_size : float, default=200
        Memory for kernel values, in MB.
    verbose : bool or int, default=False
        Print where the solver stands, twice a second at most (2: after every round), and the verdict.
    max_iter : int, default=-1
        Most steps of the solver; -1 for no limit.
    solver : str or mercer.solvers.Solver, default="auto"
        How the problem is solved. "auto" chooses; the other names, those of ``mercer.solvers.SOLVERS``, are
        there to be studied and compared. A solver object brings its options, such as
        ``mercer.solvers.Ascent(omega=1.5)``. What a solver cannot solve it refuses, and says why.
    criterion : {"kkt", "gap", "growth"}, default="kkt"
        What ``tol`` measures: the largest KKT violation, the relative gap, or the relative growth of the dual
        in a round (which proves nothing; the certificate tells the true gap all the same).
    time_limit : float, optional
        Seconds after which to stop with the best machine so far.
    n_jobs : int, optional
        Threads; None for all cores (one inside joblib workers).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of kernel values. Sums, gradients and the certificate are always float64.
    fit_intercept : bool, default=True
        Whether the function has an unpenalised bias.
    warm_start : bool, default=False
        Start from the previous fit on the same rows.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C during ``fit`` does: raise, or keep the machine so far.
    trace : bool, default=False
        Record ``history_``, which :func:`mercer.plots.convergence` draws. scikit-learn's ``set_callbacks``,
        where the installed version has it, is called after each round, too.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        describe_inherited(cls)
