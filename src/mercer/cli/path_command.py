"""``mercer path``: the exact solution for every price of errors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from mercer.cli import options as o
from mercer.cli.exits import end_partial
from mercer.cli.option_groups import Columns, MachineWishes, Reading, Shown, spread
from mercer.cli.screen import Screen

if TYPE_CHECKING:
    import numpy as np

    from mercer.cli.trainer import Trainer


@spread
def path(
    data: o.Data,
    columns: Columns,
    reading: Reading,
    shown: Shown,
    kernel: o.Kernel = "rbf",
    gamma: o.Gamma = "scale",
    c_max: o.CMax = 1e4,
    points: o.Points = 15,
    holdout: o.Holdout = 0.25,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = None,
    keep_partial: o.KeepPartial = False,
) -> None:
    """Compute the regularisation path, the exact solution for every C, and score it on held-out rows."""
    from sklearn.base import clone

    from mercer.cli.parameter_search import supervised
    from mercer.cli.row_splits import Plan, split_rows, take

    screen = Screen(shown.as_json, shown.quiet)
    wishes, plan = MachineWishes(kernel=kernel, gamma=gamma), Plan("classify", holdout, 0, seed)
    model, trainer = supervised(data, columns, reading, wishes, plan, screen)
    trainer.keep_partial = keep_partial
    train, test = split_rows(trainer.plan, trainer.n, trainer.y)
    steps = clone(model)[:-1]
    inside = steps.fit_transform(take(trainer.X, train)) if len(steps) else take(trainer.X, train)
    outside = steps.transform(take(trainer.X, test)) if len(steps) else take(trainer.X, test)
    followed = _follow(model[-1], trainer, inside, train, c_max, time_limit, screen)
    documents = _machines_along(followed, points, trainer, (inside, train), (outside, test))
    knots = sum(len(c) for c in _knots(followed))
    metric = "accuracy" if trainer.plan.task == "classify" else "R²"
    screen.say(f"{knots} knots; the solution between them is exact")
    head = ["", "C", "support vectors", f"training {metric}", f"held-out {metric}"]
    screen.grid(head, _grid(documents), (1, 2, 3, 4))
    document = {"command": "path", "knots": knots, "range": list(followed.C_range_), "metric": metric}
    screen.finish({**document, "path": documents})
    if any(one.status == "interrupted" for one in followed.paths_):
        end_partial(f"the path ends at C = {followed.C_range_[1]:.4g}")


def _follow(
    machine: Any, trainer: Trainer, X: Any, rows: np.ndarray, c_max: float, time_limit: Any, screen: Screen
) -> Any:
    import mercer

    assert trainer.y is not None
    known = machine.get_params(deep=False)
    common = {name: known[name] for name in ("kernel", "gamma", "degree", "coef0")}
    common |= {"C_max": c_max, "time_limit": time_limit}
    common["on_interrupt"] = "keep" if trainer.keep_partial else "raise"
    if trainer.plan.task == "classify":
        made: Any = mercer.SVCPath(**common)
    else:
        made = mercer.SVRPath(epsilon=known["epsilon"], **common)
    with warnings.catch_warnings(record=True) as found, screen.steps(1) as steps, steps.fitting():
        warnings.simplefilter("always")
        steps.now("following the path")
        made.fit(X, trainer.y[rows], sample_weight=trainer.weight_of(rows))
    for words in dict.fromkeys(str(w.message) for w in found):
        screen.warn(words)
    return made


def _knots(followed: Any) -> list[Any]:
    return followed.Cs_ if isinstance(followed.Cs_, list) else [followed.Cs_]


def _machines_along(
    followed: Any, points: int, trainer: Trainer, inside: tuple[Any, np.ndarray], outside: tuple[Any, Any]
) -> list[dict[str, Any]]:
    """Return what is to say of the machines at some values of C."""
    import numpy as np

    assert trainer.y is not None
    low, high = followed.C_range_
    documents = []
    for C in np.geomspace(max(low, min(float(c[0]) for c in _knots(followed))), high, points):
        machine = followed.at(min(max(float(C), low), high))
        scores = [
            float(machine.score(X, trainer.y[rows], trainer.weight_of(rows))) if rows.size else None
            for X, rows in (inside, outside)
        ]
        documents.append(
            {
                "C": float(C),
                "support_vectors": int(machine.support_.size),
                "training": scores[0],
                "held_out": scores[1],
                "relative_gap": float(machine.certificate_.relative_gap),
            }
        )
    return documents


def _grid(documents: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the rows of the table; the best is the one that held-out rows call best."""
    held = [one["held_out"] for one in documents]
    best = held.index(max(held)) if None not in held else None
    return [
        [
            "best" if k == best else "",
            f"{one['C']:.4g}",
            one["support_vectors"],
            f"{one['training']:.4f}",
            "" if one["held_out"] is None else f"{one['held_out']:.4f}",
        ]
        for k, one in enumerate(documents)
    ]
