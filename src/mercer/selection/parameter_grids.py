"""Which settings a search compares, and in which order it walks through them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mercer.estimators import NuSVC, NuSVR
from mercer.estimators.machine import KernelMachine
from mercer.kernels import Kernel
from mercer.kernels.data import size

# Larger values of these make a machine more flexible (+1) or stiffer (-1).
FLEXIBILITY = {"C": 1, "gamma": 1, "degree": 1, "nu": -1, "epsilon": -1, "length_scale": -1}
C_POWERS = np.arange(-5, 15, 2)  # of two
GAMMA_POWERS = np.arange(-6, 4)  # of four, times "scale"
DEGREES = (2, 3, 4)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95)  # of the largest feasible nu
WIDTHS = (0.01, 0.05, 0.2)  # epsilon, in standard deviations of y


def final_machine(estimator: Any) -> KernelMachine | None:
    """Return the machine itself, or the last step of a pipeline, if that is one of ours."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return last if isinstance(last, KernelMachine) else None


def prefix(estimator: Any) -> str:
    """Return what stands before the parameters of the last step."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def short(name: str) -> str:
    """Return the name of a parameter without that of its owner."""
    return name.rpartition("__")[2]


def settings(param_grid: Any) -> list[dict[str, Any]]:
    """Return the settings of a grid (or list of grids) in scikit-learn's order."""
    grids = [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
    for grid in grids:
        for name, values in grid.items():
            if isinstance(values, str) or np.ndim(np.asarray(values, dtype=object)) != 1:
                raise ValueError(f"param_grid[{name!r}]={values!r} must be a list or an array of values")
            if len(values) == 0:
                raise ValueError(f"param_grid[{name!r}] is empty: it must hold at least one value")
    return list(ParameterGrid(grids))


def default_grid(estimator: Any, X: Any, y: Any, *, kernel_only: bool = False) -> dict[str, Any]:
    """Return the grid of a machine for which none is given.

    Parameters
    ----------
    estimator : estimator
        A machine, or a pipeline that ends in one.
    X : array, CSR or sequence
        Data as the machine will see them.
    y : array or None
        Targets.
    kernel_only : bool
        Leave out what a kernel matrix knows nothing of: C, nu, epsilon.
    """
    machine = final_machine(estimator)
    if machine is None:
        raise ValueError(
            f"param_grid=None needs a machine of this library (or a pipeline that ends in one); for "
            f"{type(estimator).__name__} give the grid"
        )
    grid: dict[str, Any] = {} if kernel_only else _machine_grid(machine, y)
    grid |= _kernel_grid(machine, X)
    if not grid:
        raise ValueError(f"kernel={machine.kernel!r} has no parameter to choose: give param_grid")
    return {prefix(estimator) + name: values for name, values in grid.items()}


def _machine_grid(machine: KernelMachine, y: Any) -> dict[str, Any]:
    names = machine.get_params(deep=False)
    spread = 1.0
    if "epsilon" in names or isinstance(machine, NuSVR):
        spread = float(np.std(np.asarray(y, dtype=np.float64))) or 1.0
    if isinstance(machine, NuSVC):
        counts = np.sort(np.unique(np.asarray(y), return_counts=True)[1])
        # Of the pair with the most unequal classes; folds may be a little more unequal still.
        return {"nu": 0.98 * np.array(SHARES) * 2.0 * counts[0] / (counts[0] + counts[-1])}
    if "nu" in names and "C" not in names:
        return {"nu": [0.01, 0.05, 0.1, 0.2]}
    grid: dict[str, Any] = {"C": spread * 2.0**C_POWERS}
    if "epsilon" in names:
        grid["epsilon"] = spread * np.array(WIDTHS)
    elif "nu" in names:
        grid["nu"] = [0.1, 0.3, 0.5, 0.7]
    return grid


def _kernel_grid(machine: KernelMachine, X: Any) -> dict[str, Any]:
    kernel = machine._kernel()
    inside = "kernel__" if isinstance(machine.kernel, Kernel) else ""
    own = kernel.get_params(deep=False)
    grid: dict[str, Any] = {}
    if "degree" in own:
        grid[f"{inside}degree"] = list(DEGREES)
    elif "gamma" in own and size(X) > 0:
        base = kernel.replaced(gamma="scale").resolve_on(kernel.check(X), None)
        grid[f"{inside}gamma"] = getattr(base, "gamma") * 4.0**GAMMA_POWERS  # noqa: B009
    return grid


def chains_along_c(candidates: list[dict[str, Any]], members: list[int]) -> list[list[int]]:
    """Return chains of candidates that differ in C alone, C growing along each.

    Parameters
    ----------
    candidates : list of dict
        All settings.
    members : list of int
        Which of them to order.
    """
    chains: dict[Any, list[int]] = {}
    for k in members:
        rest = tuple(sorted((n, repr(v)) for n, v in candidates[k].items() if short(n) != "C"))
        chains.setdefault(rest, []).append(k)

    def price(k: int) -> float:
        return float(next((v for n, v in candidates[k].items() if short(n) == "C"), 0.0))

    return [sorted(chain, key=price) for chain in chains.values()]


def simplicity(candidates: list[dict[str, Any]]) -> list[int]:
    """Return the candidates from the stiffest machine to the most flexible: smaller C first, then gamma."""

    def key(k: int) -> tuple[float, ...]:
        values = {short(n): v for n, v in candidates[k].items()}
        return tuple(
            sign * float(values[name]) if isinstance(values.get(name), int | float | np.number) else 0.0
            for name, sign in FLEXIBILITY.items()
        )

    return sorted(range(len(candidates)), key=key)
