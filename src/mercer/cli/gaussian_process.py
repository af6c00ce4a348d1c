"""The Gaussian process that ``mercer train --machine gp`` stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer
from mercer._report.verdict import percent, quantity
from mercer.cli.option_groups import MachineWishes
from mercer.cli.task_choice import TaskName
from mercer.cli.user_error import UserError
from mercer.kernels import Constant
from mercer.kernels.names import as_kernel

SLOW_ROWS = 2000  # above, a search for the evidence takes minutes
REASONS = {
    "--C": "it estimates the noise from the data",
    "--nu": "it estimates the noise from the data",
    "--epsilon": "it estimates the noise from the data",
    "--gamma": "it estimates the widths of the kernel from the data",
    "--class-weight": "its probabilities are those of the data",
}


def gaussian_process(wishes: MachineWishes, task: TaskName) -> Any:
    """Return the unfitted process; refuse the options of support vector machines."""
    if task == "novelty":
        raise UserError("--machine gp needs a target; for novelty detection leave it out")
    given = {
        "--C": wishes.C is not None,
        "--nu": wishes.nu is not None,
        "--epsilon": wishes.epsilon is not None,
        "--gamma": wishes.gamma != "scale",
        "--class-weight": wishes.class_weight not in (None, "none"),
    }
    for option, was_given in given.items():
        if was_given:
            raise UserError(f"--machine gp takes no {option}: {REASONS[option]}")
    common: dict[str, Any] = {
        "cache_size": wishes.cache_size,
        "n_jobs": wishes.jobs,
        "time_limit": wishes.time_limit,
        "random_state": 0,
    }
    if wishes.tol is not None:
        common["tol"] = wishes.tol
    if task == "classify":
        return mercer.GaussianProcessClassifier(kernel=_scaled(wishes), **common)
    kernel: Any = None  # a Gaussian kernel with a width for each column
    if wishes.kernel != "rbf":
        kernel = _scaled(wishes) + Constant(1.0)
    return mercer.GaussianProcessRegressor(kernel=kernel, noise="auto", **common)


def check_process(wishes: MachineWishes, search: bool, weights: str | None, threshold: str | None) -> None:
    """Refuse what a Gaussian process does not do, before the file is read."""
    if wishes.machine != "gp":
        return
    if search:
        raise UserError("--machine gp needs no --search: it chooses its parameters by the evidence")
    if weights is not None:
        raise UserError("--machine gp takes no --weights; leave out --weights or --machine gp")
    if threshold is not None:
        raise UserError("--machine gp takes no --threshold; use predict --proba and choose one of your own")


def slow_words(wishes: MachineWishes, n: int) -> list[str]:
    """Return what to say of a process on many rows."""
    if wishes.machine != "gp" or n <= SLOW_ROWS or wishes.time_limit is not None:
        return []
    return [
        f"a Gaussian process on {n} rows takes time: each step grows with the cube of the rows; "
        "--time-limit 60 bounds each fit"
    ]


def noise_deviation(machine: Any) -> float | None:
    """Return the standard deviation of the noise that a process of numbers found."""
    noise = getattr(machine, "noise_", None)
    return None if noise is None else float(noise) ** 0.5


def process_rows(machine: Any, y: Any) -> list[tuple[str, ...]]:
    """Return what a fitted process found, for the closing table."""
    rows: list[tuple[str, ...]] = []
    deviation = noise_deviation(machine)
    if deviation is not None:
        share = percent(min(deviation**2 / float(np.var(y)), 1.0))
        rows.append(("noise", f"standard deviation {quantity(deviation)}: {share} of the target's variance"))
    rows.append(("log evidence", f"{machine.log_marginal_likelihood_value_:.6g}"))
    return rows


def _scaled(wishes: MachineWishes) -> Any:
    """Return the kernel of a name with a factor, so that the evidence finds the amplitude, too."""
    return 1.0 * as_kernel(wishes.kernel, degree=wishes.degree, coef0=wishes.coef0)
