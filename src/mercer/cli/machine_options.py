"""The machine that the options of the command stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer
from mercer.cli.option_groups import MachineWishes
from mercer.cli.options import KERNELS
from mercer.cli.task_choice import TaskName
from mercer.cli.user_error import UserError

FINEST = 1e-9  # of the target's standard deviation: no tolerance below that can be kept


def check_wishes(wishes: MachineWishes) -> None:
    """Refuse names that no machine has, before any work is done."""
    if wishes.kernel not in KERNELS:
        raise UserError(f"--kernel {wishes.kernel} is not known; it must be one of {', '.join(KERNELS)}")
    if wishes.class_weight not in (None, "balanced"):
        raise UserError(f"--class-weight {wishes.class_weight} is not known; the only one is balanced")


def make(wishes: MachineWishes, task: TaskName, y: np.ndarray | None) -> tuple[Any, list[str]]:
    """Return the unfitted machine, and what was decided for the user, in words."""
    common: dict[str, Any] = {
        "kernel": wishes.kernel,
        "gamma": _gamma(wishes.gamma),
        "degree": int(wishes.degree) if float(wishes.degree).is_integer() else wishes.degree,
        "coef0": wishes.coef0,
        "tol": wishes.tol,
        "cache_size": wishes.cache_size,
        "n_jobs": wishes.jobs,
        "time_limit": wishes.time_limit,
    }
    if task != "classify" and (wishes.probability or wishes.class_weight):
        option = "--probability" if wishes.probability else "--class-weight"
        raise UserError(f"{option} is for classification; this task is {task}")
    if task != "regress" and wishes.epsilon is not None:
        raise UserError(f"--epsilon is for regression; this task is {task}")
    if task == "classify":
        common |= {"class_weight": wishes.class_weight, "probability": wishes.probability}
        if wishes.nu is not None:
            _only_nu(wishes)
            return mercer.NuSVC(nu=wishes.nu, **common), []
        return mercer.SVC(C=1.0 if wishes.C is None else wishes.C, **common), []
    if task == "novelty":
        if wishes.C is not None:
            raise UserError("--C has no meaning for novelty detection: give --nu, the share of rows outside")
        return mercer.OneClassSVM(nu=0.1 if wishes.nu is None else wishes.nu, **common), []
    return _regression(wishes, common, y)


def _regression(wishes: MachineWishes, common: dict[str, Any], y: np.ndarray | None) -> tuple[Any, list[str]]:
    """Return a regression machine; prices follow the target's unit, as if the target were standardised."""
    assert y is not None
    unit = float(np.std(y)) or 1.0
    said = []
    if wishes.tol < FINEST * unit:  # violations have the target's unit: rounding would hide such small ones
        common["tol"] = float(f"{FINEST * unit:.4g}")
        said.append(f"tol = {common['tol']:g}: nine digits of the target's standard deviation")
    C, epsilon = wishes.C, wishes.epsilon
    if C is None:
        C = float(f"{unit:.4g}")
        said.append(f"C = {C:g}: the target's standard deviation, as if it were standardised")
    if wishes.nu is not None:
        if epsilon is not None:
            raise UserError("--nu finds epsilon by itself: give one of them")
        return mercer.NuSVR(nu=wishes.nu, C=C, **common), said
    if epsilon is None:
        epsilon = float(f"{0.1 * unit:.4g}")
        said.append(f"epsilon = {epsilon:g}: a tenth of the target's standard deviation")
    return mercer.SVR(C=C, epsilon=epsilon, **common), said


def _only_nu(wishes: MachineWishes) -> None:
    if wishes.C is not None:
        raise UserError("--nu and --C are two names for one choice: give one of them")


def _gamma(text: str) -> Any:
    if text in ("scale", "auto"):
        return text
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--gamma {text}: it must be 'scale', 'auto' or a number from 0 on") from None
