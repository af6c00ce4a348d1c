"""The certificate of rules that climb a convex dual."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.online._base import OnlineMachine
from mercer.gram import gram
from mercer.problems import Certificate, Values, combine
from mercer.problems.certificate import concluded


class ProvedMachine(OnlineMachine):
    """Base of the on-line machines whose batch of passes converges to the optimum of a convex problem."""

    _reached = "optimal"

    @property
    def _still(self) -> float:  # type: ignore[override]
        return float(self.tol)

    def _shortfall(self) -> str:
        return f"before tol={self.tol:g}: KKT violation {self.certificate_.kkt_violation:.3g}"

    def _proved(self, X: Any, target: np.ndarray) -> None:
        matrix = None if self.kernel_.is_psd else gram(self.kernel_, X, precision="double")
        psd = matrix is None or self._psd(self.kernel_, matrix)
        status = "optimal" if self.status_ == "converged" else self.status_
        self.certificate_ = self._certificate(X, target, psd, status)

    def _certificate(self, X: Any, target: np.ndarray, psd: bool, status: str) -> Certificate:
        rule, F, n = self._rule(), self._checked_values(X), target.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):  # the status tells of values that overflow
            diagonal = np.diagonal(X) if self._pairwise_kernel else self.kernel_.evaluate_diag(X)
            spread, parts = float(np.max(diagonal)), []
            for o in range(target.shape[1]):
                coef = np.zeros(n)
                coef[self.support_] = self.dual_coef_[o]
                values = rule.values(np.ascontiguousarray(target[:, o]), coef, F[:, o], spread)
                parts.append(self._one(values, int(self.n_updates_[o]), psd, status))
        return combine(parts)

    def _one(self, values: Values, steps: int, psd: bool, stopped: str) -> Certificate:
        """Return the certificate of one output's values."""
        return concluded(
            None, values, tol=float(self.tol), criterion="kkt", n_iter=steps, stopped=stopped, psd=psd
        )

    def _certify(self, X: Any, n: int, target: np.ndarray) -> Certificate:
        """Recompute the certificate on checked data."""
        check_is_fitted(self)
        if n != self.shape_fit_[0]:
            raise ValueError(f"X has {n} rows; this model was given {self.shape_fit_[0]}")
        known = getattr(self, "certificate_", None)
        psd = bool(self.kernel_.is_psd) if known is None else not math.isnan(known.gap)
        status = known.status if known is not None else "iteration_limit"
        return self._certificate(X, target, psd, status)
