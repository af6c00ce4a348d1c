"""What is to say of one prediction: shares of columns, training rows that carry it, a counterfactual."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mercer.cli.model_files import Loaded
from mercer.cli.user_error import UserError
from mercer.inspect import counterfactual, gradient, shapley, why
from mercer.inspect.counterfactuals import NoStartError
from mercer.inspect.tables import Table as Columns
from mercer.inspect.tables import function_of
from mercer.io import Table
from mercer.problems.multiclass import pair_number
from mercer.words import did_you_mean, listed

BACKGROUND = 50  # rows that stand for not knowing a column
ORDERS = 40  # of the columns; more if they are few


@dataclass
class RowExplanation:
    """An explanation of a row. Rows are counted from 0; what speaks for the predicted class is positive.

    Attributes
    ----------
    row : int
        Number of the row in the file.
    prediction, function, value, mean
        Its prediction; the function that is explained, in words; its value, and the mean over ``background``
        rows of the file.
    columns : list of dict
        name, value, share, error and slope of each column, the largest share first.
    carriers, constant, between, no_carriers
        Training rows with contribution and similarity; what is not due to them; the two classes that are
        compared, of more; why there are none.
    changes, distance, after, no_changes
        A counterfactual, or why there is none.
    """

    row: int
    prediction: Any
    function: str
    value: float
    mean: float
    background: int
    exact: bool
    columns: list[dict[str, Any]]
    carriers: list[dict[str, Any]] = field(default_factory=list)
    constant: float | None = None
    between: tuple[str, str] | None = None
    no_carriers: str | None = None
    changes: list[dict[str, Any]] = field(default_factory=list)
    distance: float | None = None
    after: Any = None
    no_changes: str | None = None

    def document(self) -> dict[str, Any]:
        """Return what is to say, for machines."""
        return {"command": "explain", **asdict(self)}


def explain_row(
    loaded: Loaded, X: Any, table: Table, row: int, to: str | None, change: list[str] | None, seed: int
) -> RowExplanation:
    """Explain one row of a file; the other rows give the background and the ranges of the counterfactual."""
    model, rows = loaded.model, Columns(X, table.source)
    names = rows.names if rows.frame else list(table.feature_names)
    wanted, free = _wish(loaded, to), _columns(change, names, table.source)
    x = rows.rows([row])
    rng = np.random.default_rng(seed)
    kept = rng.permutation(rows.n)[:BACKGROUND]
    prediction = np.asarray(model.predict(x))[0]
    classes = (
        []
        if loaded.kind == "regressor"
        else np.asarray(getattr(loaded.machine, "classes_", [-1, 1])).tolist()
    )
    shares = shapley(model, x, rows.rows(kept), orders=ORDERS, random_state=seed)
    several = shares.mean.size > 1
    k = classes.index(prediction) if several else 0
    sign = -1.0 if classes and not several and prediction == classes[0] else 1.0
    slopes = None if several else _slopes(model, x)
    share, error = sign * shares.values[0, k], shares.error[0, k]
    values = x.iloc[0].tolist() if rows.frame else x[0].tolist()
    columns = [
        {
            "name": names[j],
            "value": values[j],
            "share": float(share[j]),
            "error": float(error[j]),
            "slope": None if slopes is None else sign * float(slopes[j]),
        }
        for j in np.argsort(-np.abs(share), kind="stable")
    ]
    found = RowExplanation(
        row,
        prediction,
        f"decision value for {prediction}" if classes else "prediction",
        sign * float(function_of(model)(x)[0, k]),
        sign * float(shares.mean[k]),
        len(kept),
        shares.exact,
        columns,
    )
    _carry(found, loaded, x, classes, sign)
    if loaded.kind == "regressor" and wanted is None:
        found.no_changes = "give --to NUMBER, a value that the prediction should reach"
        return found
    try:
        other = counterfactual(model, x, X, to=wanted, columns=free, random_state=seed)
    except NoStartError as error:
        found.no_changes = (
            str(error).removeprefix("no counterfactual found: ").replace("of data", f"of {table.source}")
        )
        return found
    places = {name: names[j] for j, name in enumerate(rows.names)}
    found.changes = [{"column": places[name], "from": old, "to": new} for name, old, new in other.changes]
    found.distance, found.after = other.distance, other.after
    return found


def _carry(found: RowExplanation, loaded: Loaded, x: Any, classes: list[Any], sign: float) -> None:
    """Add the training rows that carry a prediction."""
    output = 0
    if len(classes) > 2:
        F = function_of(loaded.model)(x)[0]
        p = classes.index(found.prediction)
        if getattr(loaded.machine, "multiclass", "") != "ovo":
            output = p
        elif F.size != len(classes):
            found.no_carriers = "the model has a function for each pair of classes only"
            return
        else:
            F[p] = -np.inf
            q = int(F.argmax())
            output, sign = pair_number(min(p, q), max(p, q), len(classes)), 1.0 if p < q else -1.0
            found.between = (str(classes[p]), str(classes[q]))
    try:
        carriers = why(loaded.model, x, output=output)
    except TypeError as error:
        found.no_carriers = str(error)
        return
    found.constant = sign * carriers.constant
    found.carriers = [
        {"row": int(r), "contribution": sign * float(c), "similarity": float(s)}
        for r, c, s in zip(carriers.rows, carriers.contributions, carriers.similarities, strict=True)
    ]


def _slopes(model: Any, x: Any) -> np.ndarray | None:
    try:
        slopes = gradient(model, x)
    except TypeError:  # a kernel that is not smooth, or a preparation that is not a scaling: shares are shown
        return None
    return slopes[0] if slopes.ndim == 2 else None


def _wish(loaded: Loaded, to: str | None) -> Any:
    """Return the prediction that --to names."""
    if to is None:
        return None
    if loaded.kind == "regressor":
        try:
            return float(to)
        except ValueError:
            raise UserError(f"--to {to!r} must be a number that the prediction should reach") from None
    classes = np.asarray(getattr(loaded.machine, "classes_", [-1, 1])).tolist()
    for known in classes:
        if str(known) == to:
            return known
    texts = [str(c) for c in classes]
    raise UserError(f"--to {to!r}: the classes are {listed(texts)}.{did_you_mean(to, texts)}")


def _columns(change: list[str] | None, names: list[str], source: str) -> list[int] | None:
    for name in change or ():
        if name not in names:
            raise UserError(
                f"--change {name!r}: the columns of {source} are {listed(names)}.{did_you_mean(name, names)}"
            )
    return [names.index(name) for name in change] if change else None
