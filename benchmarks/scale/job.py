"""One fit of one library in a process of its own; prints what came of it as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import numpy as np

from benchmarks.scale.data import made

THEIRS = {"squared_hinge": 2, "hinge": 3, "binomial_deviance": 0}  # LIBLINEAR's solvers, the primal one first
DUAL = {"squared_hinge": 1, "hinge": 3, "binomial_deviance": 7}


def peak() -> float:
    """Return the high-water mark of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def primal(loss: str, X: Any, y: np.ndarray, w: np.ndarray, b: float, C: float, free: bool) -> float:
    """Return the objective of weights and a bias, from its definition."""
    f = X @ w + b
    u = 1.0 - y * f
    each = {
        "hinge": lambda: np.maximum(u, 0.0),
        "squared_hinge": lambda: np.maximum(u, 0.0) ** 2,
        "binomial_deviance": lambda: np.logaddexp(0.0, -y * f),
    }[loss]()
    return float(0.5 * (w @ w + (0.0 if free else b * b)) + C * each.sum())


def linear(spec: dict[str, Any], X: Any, y: np.ndarray) -> dict[str, Any]:
    """Fit a linear machine."""
    loss, library, tol, C = spec["loss"], spec["library"], spec["tol"], spec.get("C", 1.0)
    free = loss == "binomial_deviance" and not library.startswith("liblinear") and spec.get("free", False)
    found: dict[str, Any] = {}
    start = time.perf_counter()
    if library == "mercer":
        import mercer

        if loss == "binomial_deviance":
            bias = "unpenalised" if free else True
            model = mercer.LinearClassifier(loss=loss, C=C, tol=tol, fit_intercept=bias).fit(X, y)
        else:
            model = mercer.LinearSVC(loss=loss, C=C, tol=tol, max_iter=100_000).fit(X, y)
        w, b = model.coef_[0], float(model.intercept_[0])
        found = {
            "dual": model.certificate_.dual,
            "gap": model.certificate_.relative_gap,
            "n_iter": model.n_iter_,
        }
    elif library.startswith("liblinear"):
        from liblinear.liblinearutil import parameter, problem, train

        given = problem(y, X, 1.0)
        found["build"] = time.perf_counter() - start
        start = time.perf_counter()
        kind = (DUAL if library.endswith("dual") else THEIRS)[loss]
        model = train(given, parameter(f"-s {kind} -c {C} -B 1 -e {tol} -q"))
        weights, _ = model.get_decfun()
        w, b = np.array(weights), float(model.get_decfun()[1])
    elif library == "SGDClassifier":
        from sklearn.linear_model import SGDClassifier

        names = {"binomial_deviance": "log_loss"}
        model = SGDClassifier(
            loss=names.get(loss, loss), alpha=1.0 / (C * y.size), tol=tol, max_iter=100, random_state=0
        ).fit(X, y)
        w, b = model.coef_[0], float(model.intercept_[0])
    elif library == "snapml":
        from snapml import LogisticRegression as SnapLogistic
        from snapml import SupportVectorMachine

        given = {"regularizer": 1.0 / C, "tol": tol, "fit_intercept": True, "max_iter": 1000}
        if loss == "binomial_deviance":
            model = SnapLogistic(n_jobs=spec.get("threads", 2), **given).fit(X, y)
        elif loss == "hinge":
            model = SupportVectorMachine(loss="hinge", n_jobs=spec.get("threads", 2), **given).fit(X, y)
        else:
            raise ValueError(f"snapml has no loss {loss!r}")
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    elif loss == "binomial_deviance":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=C, tol=tol, solver=spec.get("solver", "lbfgs"), max_iter=1000).fit(X, y)
        w, b = model.coef_[0], float(model.intercept_[0])
    else:
        from sklearn.svm import LinearSVC

        dual = loss == "hinge" or bool(spec.get("dual", False))
        model = LinearSVC(loss=loss, C=C, tol=tol, dual=dual, max_iter=100_000).fit(X, y)
        w, b = model.coef_[0], float(model.intercept_[0])
    found["seconds"] = time.perf_counter() - start
    found["peak"] = peak()
    found["primal"] = primal(loss, X, y, w, b, C, free)
    found["accuracy"] = float(((X @ w + b > 0) == (y > 0)).mean())
    return found


def kernel(spec: dict[str, Any], X: Any, y: np.ndarray) -> dict[str, Any]:
    """Fit a machine with the RBF kernel, on landmarks or exactly; a fifth of the rows is held out."""
    library, m, gamma, C = spec["library"], spec.get("m", 1000), spec["gamma"], spec.get("C", 1.0)
    held = np.arange(y.size) % 5 == 4
    train, test = ~held, held
    if spec.get("all", False):  # new rows of the same kind are held out instead
        train, test = np.ones(y.size, dtype=bool), held
    A, a = (X, y) if train.all() else (X[train], y[train])
    found: dict[str, Any] = {}
    start = time.perf_counter()
    if library == "sklearn":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        last = Ridge(alpha=1.0 / (2 * C), fit_intercept=False) if spec["data"] == "smooth" else LinearSVC(C=C)
        model = make_pipeline(Nystroem(gamma=gamma, n_components=m, random_state=0), last).fit(A, a)
    else:
        import mercer

        cache = spec.get("cache", 200)
        how = {} if library == "exact" else {"approximation": "nystroem", "n_components": m}
        if spec["data"] == "smooth":
            model = mercer.KernelRidge(
                alpha=1.0 / (2 * C), kernel="rbf", gamma=gamma, cache_size=cache, random_state=0, **how
            )
        else:
            model = mercer.SVC(
                gamma=gamma, C=C, cache_size=cache, random_state=0, loss=spec.get("loss", "hinge"), **how
            )
        model.fit(A, a)
        found["gap"] = model.certificate_.relative_gap
        found["n_iter"] = int(np.max(model.n_iter_))
        if how:
            found["distance"] = str(model.distance_from_exact_)
    found["seconds"] = time.perf_counter() - start
    found["peak"] = peak()
    found["score"] = float(model.score(X[test], y[test]))
    return found


def main() -> None:
    """Run the job that the first argument describes."""
    spec = json.loads(sys.argv[1])
    work = linear if spec["task"] == "linear" else kernel
    small = dict(spec, n=2000, d=min(spec.get("d", 20), 500), m=50)
    if spec["data"] in ("dense", "sparse", "curved", "smooth"):
        work(small, *made(small))  # imports, compiles, warms up
        X, y = made(spec)
    else:
        X, y = made(spec)
        work(small, X[:2000], y[:2000])
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if hasattr(X, "indptr") else X.nbytes
    before = peak()
    found = work(spec, X, y)
    found.update(data_mb=size / 2**20, before=before, **spec)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
