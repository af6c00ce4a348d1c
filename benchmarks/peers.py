"""How each library is called. Imported by everyone, so it imports none of them at the top.

``prepare`` and ``prepare_rows`` convert data to a library's own format outside the clock (only LIBSVM's own
interface needs that; it gains from it). ``fit`` and ``predict`` are what is timed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.problem import Fitted, Problem, Settings


class Library:
    """An estimator with scikit-learn's interface and attributes."""

    name = ""
    module = ""  # what is imported
    distribution = ""  # what is installed
    svc, svr = "SVC", "SVR"
    compiles = False  # whether its code is compiled on first use: then its warm-up is a whole fit
    note = ""

    def available(self) -> bool:
        """Return whether it can be imported, without importing it."""
        return importlib.util.find_spec(self.module.split(".")[0]) is not None

    def version(self) -> str:
        """Return the installed version."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(self._home, "__version__", "of unknown version"))

    def start(self) -> None:
        """Import it."""
        self._home = importlib.import_module(self.module)

    def options(self, settings: Settings) -> dict[str, Any]:
        """Return the constructor's parameters that do not depend on the problem."""
        return {"kernel": "rbf", "tol": settings.tol, "cache_size": settings.cache_size}

    def prepare(self, problem: Problem) -> Any:
        """Return the data in the library's own format; not timed."""
        return problem.X, problem.y

    def prepare_rows(self, X: Any) -> Any:
        """Return rows to predict in the library's own format; not timed."""
        return X

    def fit(self, data: Any, problem: Problem, settings: Settings) -> Any:
        """Return a fitted model."""
        X, y = data
        options = {"C": problem.C, "gamma": problem.gamma, **self.options(settings)}
        if problem.regression:
            return getattr(self._home, self.svr)(epsilon=problem.epsilon, **options).fit(X, y)
        return getattr(self._home, self.svc)(**options).fit(X, y)

    def predict(self, model: Any, rows: Any) -> np.ndarray:
        """Return the predictions of a model."""
        return np.asarray(model.predict(rows))

    def order(self, model: Any, problem: Problem) -> np.ndarray:
        """Return the class at each position of the model's layout."""
        return np.asarray(model.classes_)

    def export(self, model: Any, problem: Problem) -> Fitted:
        """Return the model as numbers."""
        coef = model.dual_coef_
        coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef)
        return Fitted(
            support=np.asarray(model.support_, dtype=np.int64),
            dual_coef=np.atleast_2d(coef).astype(np.float64),
            intercept=np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64)).ravel(),
            order=np.zeros(0, dtype=np.int64)
            if problem.regression
            else self.order(model, problem).astype(np.int64),
            claimed=self.claimed(model),
        )

    def claimed(self, model: Any) -> float | None:
        """Return the KKT violation that the library reports, if it does."""
        return None


class Mercer(Library):
    """The package that is measured."""

    name = module = distribution = "mercer"
    compiles = True

    def options(self, settings: Settings) -> dict[str, Any]:
        """Add the number of threads, which is a parameter here."""
        return {**super().options(settings), "n_jobs": settings.threads}

    def claimed(self, model: Any) -> float | None:
        """Return the certificate's violation."""
        return float(model.certificate_.kkt_violation)


class Sklearn(Library):
    """scikit-learn, which carries LIBSVM; one thread."""

    name, module, distribution = "sklearn", "sklearn.svm", "scikit-learn"
    note = "one thread, as it is built"


class Intelex(Library):
    """scikit-learn-intelex, imported by itself: scikit-learn is never patched."""

    name, module, distribution = "intelex", "sklearnex.svm", "scikit-learn-intelex"

    def fit(self, data: Any, problem: Problem, settings: Settings) -> Any:
        """Fit, and refuse a model that scikit-learn made in its stead."""
        model = super().fit(data, problem, settings)
        if not hasattr(model, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex fell back to scikit-learn on this problem")
        return model


class Libsvm(Library):
    """LIBSVM through its own Python interface; kernel rows in parallel when it is built with OpenMP."""

    name, module, distribution = "libsvm", "libsvm.svmutil", "libsvm-official"
    note = "conversion to its format is not timed"

    def prepare(self, problem: Problem) -> Any:
        """Return an ``svm_problem``; it must outlive the model."""
        return self._home.svm_problem(problem.y.astype(np.float64), sp.csr_matrix(problem.X))

    def prepare_rows(self, X: Any) -> Any:
        """Return rows as nodes."""
        return self._home.svm_problem(np.zeros(X.shape[0]), sp.csr_matrix(X))

    def fit(self, data: Any, problem: Problem, settings: Settings) -> Any:
        """Return a trained ``svm_model``."""
        kind = f"-s 3 -p {problem.epsilon!r}" if problem.regression else "-s 0"
        machine = f"-t 2 -c {problem.C!r} -g {problem.gamma!r}"
        options = f"{kind} {machine} -e {settings.tol!r} -m {settings.cache_size!r} -q"
        return self._home.svm_train(data, self._home.svm_parameter(options))

    def predict(self, model: Any, rows: Any) -> np.ndarray:
        """Return predictions, one call of the C function per row."""
        predict = self._home.libsvm.svm_predict
        return np.array([predict(model, rows.x[i]) for i in range(rows.l)])

    def export(self, model: Any, problem: Problem) -> Fitted:
        """Copy the numbers out of the C structures."""
        k = 2 if problem.regression else model.get_nr_class()
        m = model.l
        coef = np.array(
            [np.ctypeslib.as_array(model.sv_coef[r], (m,)) for r in range(k - 1)], dtype=np.float64
        )
        return Fitted(
            support=np.asarray(model.get_sv_indices(), dtype=np.int64) - 1,
            dual_coef=coef.reshape(k - 1, m),
            intercept=-np.array(model.rho[: k * (k - 1) // 2], dtype=np.float64),
            order=np.asarray([] if problem.regression else model.get_labels(), dtype=np.int64),
        )


class Thundersvm(Library):
    """ThunderSVM, in float32; its classes stand in the order in which the data shows them."""

    name = module = distribution = "thundersvm"
    note = "works in float32"

    def version(self) -> str:
        """Return the version of whichever of its two builds is installed."""
        for name in ("thundersvm-cpu", "thundersvm"):
            try:
                return importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        return "source"

    def options(self, settings: Settings) -> dict[str, Any]:
        """Its memory limit stands for the cache size."""
        return {
            "kernel": "rbf", "tol": settings.tol, "n_jobs": settings.threads,
            "max_mem_size": max(int(settings.cache_size), 1),
        }  # fmt: skip

    def prepare(self, problem: Problem) -> Any:
        """Copy sparse data: its fit changes the values' type in place."""
        return (problem.X.copy() if problem.sparse else problem.X), problem.y

    def prepare_rows(self, X: Any) -> Any:
        """Copy sparse rows, for the same reason."""
        return X.copy() if sp.issparse(X) else X

    def export(self, model: Any, problem: Problem) -> Fitted:
        """Turn the sign of the bias: what it calls ``intercept_`` is rho."""
        fitted = super().export(model, problem)
        return replace(fitted, intercept=-fitted.intercept)

    def order(self, model: Any, problem: Problem) -> np.ndarray:
        """Return the classes by first appearance."""
        labels, first = np.unique(problem.y, return_index=True)
        return labels[np.argsort(first)]


LIBRARIES: dict[str, type[Library]] = {
    kind.name: kind for kind in (Mercer, Sklearn, Intelex, Libsvm, Thundersvm)
}
