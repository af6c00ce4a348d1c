"""The estimators on the page, the controls that each of them has, and the code that builds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer import estimators

__all__ = ["KERNELS", "MACHINES", "Machine", "Settings", "build", "control_names", "parameters"]


@dataclass(frozen=True)
class Machine:
    """An estimator on the page.

    Attributes
    ----------
    task : {"classification", "regression", "novelty"}
        Its task.
    controls : tuple of str
        Parameters with a control, besides those of the kernel.
    losses : tuple of str
        Values of ``loss``; empty where it has none.
    path : str
        The class that follows its solution along C; empty where there is none.
    """

    task: str
    controls: tuple[str, ...]
    losses: tuple[str, ...] = ()
    path: str = ""


MACHINES = {
    "SVC": Machine("classification", ("C",), ("hinge", "squared_hinge"), "SVCPath"),
    "NuSVC": Machine("classification", ("nu",)),
    "KernelLogisticRegression": Machine("classification", ("C",)),
    "KernelClassifier": Machine(
        "classification",
        ("C",),
        ("binomial_deviance", "squared_hinge", "huberized_squared_hinge", "squared_error"),
    ),
    "KernelPerceptron": Machine("classification", ()),
    "SVR": Machine(
        "regression", ("C", "epsilon"), ("epsilon_insensitive", "squared_epsilon_insensitive"), "SVRPath"
    ),
    "NuSVR": Machine("regression", ("C", "nu")),
    "KernelRidge": Machine("regression", ("alpha",)),
    "OneClassSVM": Machine("novelty", ("nu",)),
    "SVDD": Machine("novelty", ("nu",)),
}

KERNELS: dict[str, tuple[str, ...]] = {
    "rbf": ("gamma",),
    "linear": (),
    "poly": ("degree", "gamma"),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma",),
}


@dataclass(frozen=True)
class Settings:
    """What the controls are set to.

    Attributes
    ----------
    machine, kernel, loss : str
        Names; a loss that the machine does not have is not used.
    C, nu, gamma, epsilon, alpha : float
        Parameters.
    degree : int
        Of the polynomial kernel.
    """

    machine: str = "SVC"
    kernel: str = "rbf"
    loss: str = "hinge"
    C: float = 1.0
    nu: float = 0.2
    gamma: float = 0.5
    epsilon: float = 0.2
    alpha: float = 0.1
    degree: int = 3

    @property
    def task(self) -> str:
        """The task of the machine."""
        return MACHINES[self.machine].task


def control_names(settings: Settings) -> tuple[str, ...]:
    """Return the parameters that have a say, in the order of the controls."""
    machine = MACHINES[settings.machine]
    loss = ("loss",) if machine.losses else ()
    return (*loss, *machine.controls, *KERNELS[settings.kernel])


def parameters(settings: Settings) -> dict[str, Any]:
    """Return the constructor's arguments."""
    machine = MACHINES[settings.machine]
    chosen: dict[str, Any] = {"kernel": settings.kernel}
    for name in control_names(settings):
        value = getattr(settings, name)
        if name == "loss" and value not in machine.losses:
            value = machine.losses[0]
        chosen[name] = value
    if settings.kernel == "poly":
        chosen["coef0"] = 1.0
    return chosen


def build(settings: Settings, **more: Any) -> Any:
    """Return the unfitted estimator.

    Parameters
    ----------
    settings : Settings
        What the controls are set to.
    **more
        Further constructor arguments.
    """
    return getattr(estimators, settings.machine)(**parameters(settings), **more)
