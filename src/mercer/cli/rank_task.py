"""``mercer train --task rank``: items of queries in order."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

import mercer
from mercer.cli.input_tables import read_table, split_weights, words_of_names
from mercer.cli.machine_options import make
from mercer.cli.model_files import replaced_words
from mercer.cli.option_groups import Columns, ItemWishes, MachineWishes, Measuring, Reading, Shown
from mercer.cli.options import KERNELS
from mercer.cli.preparation import prepare_table
from mercer.cli.row_splits import Plan, take
from mercer.cli.screen import Screen
from mercer.cli.train_results import certificate_document, certificate_row
from mercer.cli.user_error import UserError
from mercer.cli.whole_files import check_place, whole_file
from mercer.io import Table
from mercer.ranking import kendall_tau, ndcg, pair_accuracy
from mercer.words import counted, did_you_mean, listed

OWN = {"solver", "loss", "kernel"}


def split_queries(table: Table, column: str | None) -> tuple[Table, np.ndarray]:
    """Take the queries out of a table: the ``qid`` of a ranking file, or a column."""
    if table.query is not None and column in (None, "qid"):
        return table, np.asarray(table.query)
    if column is None:
        raise UserError(
            f"--task rank needs the query of each row: {table.source} has no qid, so name a column by --group"
        )
    if column not in set(table.feature_names):
        known = listed(tuple(table.feature_names))
        near = did_you_mean(column, table.feature_names)
        raise UserError(f"--group {column!r}: the columns of {table.source} are {known}.{near}")
    if table.n_features == 1:
        raise UserError(f"--group {column!r} leaves no feature of {table.source} to learn from")
    position = list(table.feature_names).index(column)
    values = table.X[column].to_numpy() if hasattr(table.X, "iloc") else table.X[:, position]
    if hasattr(values, "toarray"):
        values = values.toarray().ravel()
    if column not in table.categories and not np.isfinite(np.asarray(values, dtype=float)).all():
        raise UserError(f"--group {column!r}: some rows have no query")
    texts = np.asarray(values).astype(str) if column in table.categories else np.asarray(values)
    return table.select([name for name in table.feature_names if name != column]), texts


def check_rank(
    wishes: MachineWishes, items: ItemWishes, measuring: Measuring, others: dict[str, Any]
) -> None:
    """Refuse what rankings do not have."""
    given = {
        "--machine gp": wishes.machine == "gp", "--nu": wishes.nu is not None,
        "--epsilon": wishes.epsilon is not None, "--probability": wishes.probability,
        "--class-weight": wishes.class_weight is not None, "--threshold": measuring.threshold is not None,
        "--scoring": measuring.scoring is not None, "--tolerance": measuring.tolerance is not None,
        f"--kernel {wishes.kernel}": wishes.kernel not in KERNELS,
        **{f"--{name}": value is not None for name, value in asdict(items).items()}, **others,
    }  # fmt: skip
    for option, found in given.items():
        if found:
            raise UserError(f"--task rank does not support {option}")


class _Queries:
    """Rows with their grades, queries and weights: models are fitted on some and measured on others."""

    def __init__(self, X: Any, y: np.ndarray, query: np.ndarray, weight: np.ndarray | None) -> None:
        self.X, self.y, self.query, self.weight = X, y, query, weight
        self.caught: dict[str, None] = {}

    def fitted(self, model: Any, rows: np.ndarray) -> Any:
        """Return a copy of a pipeline fitted on some rows."""
        arguments = {"machine__group": self.query[rows]}
        if self.weight is not None:
            arguments["machine__sample_weight"] = self.weight[rows]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            out = clone(model).fit(take(self.X, rows), self.y[rows], **arguments)
        self.caught |= dict.fromkeys(str(warning.message) for warning in found)
        return out

    def ordered(self, rows: np.ndarray) -> bool:
        """Return whether some query of these rows has two grades."""
        query, y = (np.unique(of[rows], return_inverse=True)[1] for of in (self.query, self.y))
        kinds = np.unique(np.column_stack([query, y]), axis=0)
        return bool(query.max() + 1 < kinds.shape[0])

    def measured(self, model: Any, rows: np.ndarray) -> dict[str, float]:
        """Return the measures of some rows, means over their queries."""
        values, y, query = model.predict(take(self.X, rows)), self.y[rows], self.query[rows]
        weight = None if self.weight is None else self.weight[rows]
        found = {
            "pair accuracy": pair_accuracy(y, values, query, weight),
            "Kendall's tau": kendall_tau(y, values, query),
        }
        if y.min() >= 0:  # gains
            found["NDCG"] = ndcg(y, values, query)
        return found


def train_ranker(
    data: str,
    group: str | None,
    columns: Columns,
    wishes: MachineWishes,
    measuring: Measuring,
    reading: Reading,
    shown: Shown,
    place: Path,
    force: bool,
) -> None:
    """Train a ranker on a file, evaluate it on held-out queries, certify the fit and save it."""
    started = time.perf_counter()
    screen = Screen(shown.as_json, shown.quiet)
    check_place(place)
    plan = Plan("regress", **asdict(measuring))
    plan.check()
    table = read_table(data, columns.target, reading, columns.exclude)
    table, weight = split_weights(table, columns.weights)
    table, query = split_queries(table, group)
    if table.y is None or table.y.dtype.kind not in "biuf":
        raise UserError("--task rank needs a target of numbers, larger ones for better items: give --target")
    n_queries = np.unique(query).size
    rows, features = counted(table.n_rows, "row"), counted(table.n_features, "feature")
    screen.say(f"{table.source}: {rows}, {features}; task rank: {_queries(n_queries)}")
    for words in words_of_names(table, reading):
        screen.say(words)
    preparation = prepare_table(table, columns.scale, columns.impute, columns.dates)
    for words in preparation.said + replaced_words(place, table.target_name, force):
        screen.say(words)
    model = preparation.pipeline(_machine(wishes))
    everything = _Queries(preparation.X, np.asarray(table.y), query, weight)
    every = np.arange(table.n_rows)
    if not everything.ordered(every):
        raise UserError("no query has two rows of different targets: there is nothing to order")
    held_out, folds = _measures(everything, model, plan, every, n_queries, screen)
    final = everything.fitted(model, every)
    for words in everything.caught:
        screen.warn(words)
    with whole_file(place) as part:
        mercer.save(final, part, X=everything.X, y=table.y, sample_weight=weight, target=table.target_name)
    certificate = final[-1].certificate_
    shown_rows: list[Any] = [(name, f"{value:.4f} on held-out queries") for name, value in held_out.items()]
    if folds:
        shown_rows.append(("cross-validation", f"pair accuracy {np.mean(folds):.4f} ({len(folds)} folds)"))
    shown_rows += [certificate_row(certificate, True), ("model", f"{place}, fitted on all {rows}")]
    screen.gap()
    if not screen.quiet:
        screen.pairs(shown_rows)
    known = final[-1].get_params(deep=False)
    screen.finish(
        {
            "command": "train",
            "data": {"source": table.source, "rows": table.n_rows, "features": table.n_features},
            "target": table.target_name,
            "task": "rank",
            "queries": n_queries,
            "preparation": preparation.said,
            "machine": "RankSVM",
            "kernel": repr(final[-1].kernel_),
            "parameters": {name: known[name] for name in ("C", "gamma", "degree", "coef0", "tol", "loss")},
            "held_out": held_out or None,
            "cross_validation": {"metric": "pair accuracy", "scores": folds} if folds else None,
            "support_vectors": int(final[-1].support_.size),
            "certificate": certificate_document(certificate),
            "seconds": time.perf_counter() - started,
            "warnings": list(everything.caught),
            "model": str(place),
        }
    )


def _queries(number: int) -> str:
    return "1 query" if number == 1 else f"{number} queries"


def _machine(wishes: MachineWishes) -> Any:
    """Return the unfitted ranker with the parameters of the command."""
    plain, _ = make(replace(wishes, C=1.0 if wishes.C is None else wishes.C), "classify", None)
    known = mercer.RankSVM().get_params(deep=False).keys() - OWN
    given = {name: value for name, value in plain.get_params(deep=False).items() if name in known}
    return mercer.RankSVM(kernel=wishes.kernel, **given)


def _measures(
    everything: _Queries, model: Any, plan: Plan, every: np.ndarray, n_queries: int, screen: Screen
) -> tuple[dict[str, float], list[float]]:
    """Return the measures of held-out queries, and the pair accuracies of folds of the other queries."""
    held_out: dict[str, float] = {}
    rest, query = every, everything.query
    if n_queries < 4 and (plan.holdout > 0 or plan.folds):
        screen.say(f"{_queries(n_queries)}: too few to hold out any")
        return held_out, []
    if plan.holdout > 0:
        cut = GroupShuffleSplit(1, test_size=plan.holdout, random_state=plan.seed)
        rest, test = next(cut.split(every, groups=query))
        if everything.ordered(rest) and everything.ordered(test):
            held_out = everything.measured(everything.fitted(model, rest), test)
    folds = []
    count = min(plan.folds, np.unique(query[rest]).size)
    if count >= 2:
        for a, b in GroupKFold(count).split(rest, groups=query[rest]):
            if everything.ordered(rest[a]) and everything.ordered(rest[b]):
                fitted = everything.fitted(model, rest[a])
                folds.append(everything.measured(fitted, rest[b])["pair accuracy"])
    return held_out, folds
