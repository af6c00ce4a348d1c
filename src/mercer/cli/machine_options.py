"""The machine that the options of the command stand for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

import mercer
from mercer.cli.gaussian_process import gaussian_process
from mercer.cli.item_columns import item_kernel, plain, with_kernel
from mercer.cli.learning_table import LearningTable
from mercer.cli.option_groups import ItemWishes, MachineWishes
from mercer.cli.options import ITEM_KERNELS, KERNELS, MACHINES
from mercer.cli.task_choice import TaskName
from mercer.cli.user_error import UserError
from mercer.selection.scoring import rare_class
from mercer.words import did_you_mean

TOL = 1e-3
OWN = {"solver"}  # parameters whose values differ between machines
FINEST = 1e-9  # of the target's standard deviation: no tolerance below that can be kept


def check_wishes(wishes: MachineWishes) -> None:
    """Refuse names that no machine has, before any work is done."""
    known = (*KERNELS, *ITEM_KERNELS)
    if wishes.kernel not in known:
        raise UserError(
            f"--kernel {wishes.kernel} is invalid; choose one of {', '.join(known)}."
            + did_you_mean(wishes.kernel, known)
        )
    if wishes.machine not in MACHINES:
        raise UserError(f"--machine {wishes.machine} is invalid; choose one of {', '.join(MACHINES)}")
    if wishes.class_weight not in (None, "balanced", "none"):
        raise UserError(f"--class-weight {wishes.class_weight} is invalid; choose balanced or none")


def make(wishes: MachineWishes, task: TaskName, y: np.ndarray | None) -> tuple[Any, list[str]]:
    """Return the unfitted machine, and what was decided for the user, in words."""
    if wishes.machine == "gp":
        return gaussian_process(wishes, task), []
    common: dict[str, Any] = {
        "kernel": wishes.kernel,
        "gamma": _gamma(wishes.gamma),
        "degree": int(wishes.degree) if float(wishes.degree).is_integer() else wishes.degree,
        "coef0": wishes.coef0,
        "tol": TOL if wishes.tol is None else wishes.tol,
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
        class_weight, said = _class_weight(wishes, y)
        common |= {"class_weight": class_weight} | ({"probability": True} if wishes.probability else {})
        if wishes.nu is not None:
            _only_nu(wishes)
            return mercer.NuSVC(nu=wishes.nu, **common), said
        return mercer.SVC(C=1.0 if wishes.C is None else wishes.C, **common), said
    if task == "novelty":
        if wishes.C is not None:
            raise UserError("--C does not apply to novelty detection: give --nu, the fraction of outliers")
        return mercer.OneClassSVM(nu=0.1 if wishes.nu is None else wishes.nu, **common), []
    return _regression(wishes, common, y)


def make_for(learning: LearningTable, wishes: MachineWishes, given: ItemWishes) -> tuple[Any, list[str]]:
    """Return the unfitted machine for a table, on its items if it has such; and what was decided."""
    if learning.items is None:
        options = [name for name, value in asdict(given).items() if value is not None]
        if options:
            raise UserError(
                f"--{options[0]} is for kernels of sequences, trees, graphs or time series: "
                f"{learning.table.source} has none to compare"
            )
        machine, decided = make(wishes, learning.task, learning.y)
        return (ordered_machine(machine, wishes) if learning.ordered else machine), decided
    if wishes.machine == "gp":
        raise UserError(f"--machine gp is for tables; {learning.items.what} need --machine svm")
    kernel, said = item_kernel(wishes, given, learning.items)
    machine, decided = make(plain(wishes), learning.task, learning.y)
    machine = ordered_machine(machine, wishes) if learning.ordered else machine
    return with_kernel(machine, kernel), said + decided


def keeping_rows(machine: Any) -> Any:
    """Return a machine that keeps its training rows, or say that it cannot."""
    if "updatable" not in machine.get_params(deep=False):
        raise UserError(
            f"--updatable is for support vector machines with --C or --epsilon, and for novelty detection; "
            f"{type(machine).__name__} has no exact updates"
        )
    return machine.set_params(updatable=True)


def ordered_machine(machine: Any, wishes: MachineWishes) -> Any:
    """Return the machine of ordered classes with the parameters of a classifier; refuse what it has not."""
    for option, given in (
        ("--machine gp", wishes.machine == "gp"),
        ("--nu", wishes.nu is not None),
        ("--probability", wishes.probability),
    ):
        if given:
            raise UserError(f"--task ordinal does not support {option}: use --task classify")
    known = mercer.OrdinalSVC().get_params(deep=False).keys() - OWN
    return mercer.OrdinalSVC(
        **{k: v for k, v in machine.get_params(deep=False).items() if k in known and k not in OWN}
    )


def _class_weight(wishes: MachineWishes, y: np.ndarray | None) -> tuple[str | None, list[str]]:
    """Return the classes' weights: a rare class counts as much as the others unless that was refused."""
    if wishes.class_weight is not None or wishes.nu is not None or rare_class(y) is None:
        return (None if wishes.class_weight == "none" else wishes.class_weight), []
    return "balanced", [
        "class weight balanced, so that rare classes count (--class-weight none turns this off)"
    ]


def _regression(wishes: MachineWishes, common: dict[str, Any], y: np.ndarray | None) -> tuple[Any, list[str]]:
    """Return a regression machine; prices follow the target's unit, as if the target were standardised."""
    assert y is not None
    unit = float(np.std(y)) or 1.0
    said = []
    if common["tol"] < FINEST * unit:  # violations have the target's unit: rounding hides such small ones
        common["tol"] = float(f"{FINEST * unit:.4g}")
        said.append(f"tol = {common['tol']:g}: 1e-9 of the target's standard deviation")
    C, epsilon = wishes.C, wishes.epsilon
    if C is None:
        C = float(f"{unit:.4g}")
        said.append(f"C = {C:g}: the target's standard deviation")
    if wishes.nu is not None:
        if epsilon is not None:
            raise UserError("--nu chooses epsilon: give one of the two")
        return mercer.NuSVR(nu=wishes.nu, C=C, **common), said
    if epsilon is None:
        epsilon = float(f"{0.1 * unit:.4g}")
        said.append(f"epsilon = {epsilon:g}: a tenth of the target's standard deviation")
    return mercer.SVR(C=C, epsilon=epsilon, **common), said


def _only_nu(wishes: MachineWishes) -> None:
    if wishes.C is not None:
        raise UserError("--nu and --C control the same thing: give one of the two")


def _gamma(text: str) -> Any:
    if text in ("scale", "auto"):
        return text
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--gamma {text}: it must be 'scale', 'auto' or a non-negative number") from None
