"""The machine on the page as a short program."""

from __future__ import annotations

import numpy as np

from mercer.play.catalogue import Settings, parameters
from mercer.play.presets import Points

__all__ = ["as_python"]


def as_python(points: Points, settings: Settings) -> str:
    """Return a program that fits the same machine to the same points.

    Parameters
    ----------
    points : Points
        What is on the board.
    settings : Settings
        Machine, kernel and parameters.
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in parameters(settings).items())
    if settings.task == "regression":
        data = [_array("X", points.x[:, None]), _array("y", points.y)]
    else:
        data = [_array("X", np.column_stack([points.x, points.y]))]
        if settings.task == "classification":
            data.append(_array("y", points.group))
    fit = "fit(X)" if settings.task == "novelty" else "fit(X, y)"
    last = "print(model.certificate_)"
    if settings.machine == "KernelPerceptron":
        last = "print(model.status_, model.mistakes_)"
    lines = ["import numpy as np", "", "import mercer", "", *data, ""]
    return "\n".join([*lines, f"model = mercer.{settings.machine}({arguments}).{fit}", last, ""])


def _array(name: str, values: np.ndarray) -> str:
    rows = values.tolist()
    if values.ndim == 1:
        text = ", ".join(f"{v!r}" for v in rows)
    else:
        text = ", ".join("[" + ", ".join(f"{v!r}" for v in row) + "]" for row in rows)
    return f"{name} = np.array([{text}])"
