"""What fitted paths say: knots, events, curves, and the machine at any value of C."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.gram import Segment, cross_products
from mercer.solvers.path.breakpoints import KINDS, Path
from mercer.solvers.path.lookups import where_met

EVENT = np.dtype([("C", "f8"), ("kind", "U8"), ("index", "i8")])


class PathLookups:
    """Look up what paths say at a value of C."""

    C_min: float
    C_max: float
    paths_: list[Path]
    _data: Any

    def _check_C(self, C: Any) -> float:  # noqa: N802
        if isinstance(C, bool) or not isinstance(C, Real):
            raise TypeError(f"C={C!r} must be a number")
        value = float(C)
        low, high = self.C_range_
        if not low <= value <= high or not value > 0:
            raise ValueError(
                f"C={C!r} is not on the path: it must be positive and between {low:g} and {high:g}"
            )
        return value

    @property
    def C_range_(self) -> tuple[float, float]:  # noqa: N802
        """The least and the largest C that the path knows; 0 means every small C."""
        reached = max(float(path.t[-1]) for path in self.paths_)
        at_the_end = reached <= 1.0 / self.C_max
        return float(self.C_min), float(self.C_max) if at_the_end else 1.0 / reached

    @staticmethod
    def _one_or_all(values: list[Any]) -> Any:
        """Return what belongs to one path, or a list for several."""
        return values[0] if len(values) == 1 else values

    @property
    def lambdas_(self) -> Any:
        """Lambda = 1 / C at the knots, falling; a list, one per pair, for more than two classes."""
        return self._one_or_all([path.t for path in self.paths_])

    @property
    def Cs_(self) -> Any:  # noqa: N802
        """C at the knots, rising; a list, one per pair, for more than two classes."""
        with np.errstate(divide="ignore"):
            return self._one_or_all([1.0 / path.t for path in self.paths_])

    @property
    def intercepts_(self) -> Any:
        """The bias at the knots; a list, one per pair, for more than two classes."""
        return self._one_or_all([path.verdict()[1] for path in self.paths_])

    @property
    def events_(self) -> Any:
        """What happened at the knots: records of C, kind and row; a list for more than two classes.

        A row can "enter" the elbow (the free support vectors) or "leave" it. An "exchange" is an entry that
        would have made the elbow's system singular: the solution then moves at fixed C among equally good
        ones until another row leaves. A "restart" (row -1) is a direct solve where rounding had stopped the
        walk.
        """
        tables = []
        for path, rows in zip(self.paths_, self._rows(), strict=True):
            table = np.empty(path.event_t.size, dtype=EVENT)
            with np.errstate(divide="ignore"):
                table["C"] = 1.0 / path.event_t
            table["kind"] = np.array(KINDS)[path.event_kind]
            index = path.event_index
            table["index"] = np.where(index < 0, -1, rows[np.maximum(index, 0)])
            tables.append(table)
        return self._one_or_all(tables)

    def curves(self, C: Any, number: int = 0) -> dict[str, np.ndarray]:
        """Return what the path says at some values of C, for tables and pictures.

        Parameters
        ----------
        C : sequence of float
            Values within ``C_range_``.
        number : int, default=0
            Which two-class problem, for more than two classes.

        Returns
        -------
        dict
            ``C``; ``scaled``, the coefficients divided by C, a row per value; ``values``, the function at the
            rows of the problem, with its bias; ``norm``, ||w||; ``rows``, the numbers of those rows.
        """
        checked = np.array([self._check_C(float(value)) for value in C])
        scaled, values, norm = self.paths_[number].curves(checked)
        return {
            "C": checked,
            "scaled": scaled,
            "values": values,
            "norm": norm,
            "rows": self._rows()[number],
        }

    def C_for(  # noqa: N802
        self,
        *,
        norm: float | None = None,
        margin: float | None = None,
        slack_sum: float | None = None,
        number: int = 0,
    ) -> float:
        r"""Return the C of another parametrisation of the same machines.

        The machine of the C that is found solves

        .. math::
            \min \sum_i w_i \xi_i \quad \text{subject to} \quad \|w\| \le A

        for A = ``norm``, or for the wished ``margin`` 1 / A; and

        .. math::
            \min \|w\| \quad \text{subject to} \quad \sum_i w_i \xi_i \le s

        for s = ``slack_sum``, with the slacks of the loss.

        Parameters
        ----------
        norm : float, optional
            ||w||, which rises with C.
        margin : float, optional
            1 / ||w||, which falls.
        slack_sum : float, optional
            The sum of the slacks, each times its row's weight, which falls.
        number : int, default=0
            Which two-class problem, for more than two classes.

        Returns
        -------
        float
            C, for ``at``; the smallest where several give that value.

        References
        ----------
        Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, Remark 7.31. Hastie,
        Tibshirani and Friedman (2009), The Elements of Statistical Learning, (12.7).
        """
        check_is_fitted(self, "paths_")
        given = {"norm": norm, "margin": margin, "slack_sum": slack_sum}
        wished = {name: value for name, value in given.items() if value is not None}
        if len(wished) != 1:
            raise ValueError(f"give one of norm, margin and slack_sum; {len(wished)} are given")
        ((name, value),) = wished.items()
        if not (np.isfinite(value) and (value > 0 or (value == 0 and name == "slack_sum"))):
            raise ValueError(f"{name}={value} must be a positive number")
        if name == "slack_sum":
            return where_met(
                lambda C: self._slack_sums(C, number), self._knots(number), float(value), rising=False,
                name=name,
            )  # fmt: skip
        return where_met(
            lambda C: self.curves(C, number)["norm"], self._knots(number),
            float(value) if name == "norm" else 1.0 / float(value), rising=True, name="norm",
        )  # fmt: skip

    def _knots(self, number: int) -> np.ndarray:
        """Return the knots of a path in C, between the ends that are known."""
        with np.errstate(divide="ignore"):
            C = 1.0 / self.paths_[number].t
        low, high = self.C_range_
        inside = C[(low < C) & (high > C) & np.isfinite(C)]
        first = low if low > 0 else 1e-6 * float(inside.min(initial=high))
        return np.unique(np.concatenate([[first], inside, [high]]))

    def _slack_sums(self, C: Any, number: int) -> np.ndarray:
        """Return the weighted sums of slacks at some values of C."""
        raise NotImplementedError

    def _rows(self) -> list[np.ndarray]:
        """Return the rows of the data that each path is about."""
        raise NotImplementedError

    def at(self, C: float) -> Any:
        """Return the machine at a value of C."""
        raise NotImplementedError

    def predict(self, X: Any, C: Any = None) -> np.ndarray:
        """Return what machines at values of C say of new points.

        Parameters
        ----------
        X : array, CSR or sequence
            Points.
        C : float or sequence of float, optional
            One value of C, or several; the parameter ``C`` when not given.

        Returns
        -------
        ndarray of shape (n,) or (n, number of values of C)
            Classes of a classifier, values of a regression.
        """
        check_is_fitted(self, "paths_")
        if C is None:
            return np.asarray(super().predict(X))  # type: ignore[misc]
        if np.ndim(C) == 0:
            return np.asarray(self.at(C).predict(X))
        return self._predictions_at(X, C)

    def _predictions_at(self, X: Any, C: Any) -> np.ndarray:
        """Return the predictions for several values of C, a column for each."""
        raise NotImplementedError

    def _values_at(self, X: Any, C: Any) -> np.ndarray:
        """Return f at new points, a column for each value of C; kernel values are computed once."""
        this: Any = self
        X = this._check_X(X, kernel=this.kernel_, reset=False)
        (path,), (rows,) = self.paths_, self._rows()
        coef, intercepts = path.machines(np.array([self._check_C(float(value)) for value in C]))
        reference = rows if this._pairwise_kernel else this.kernel_.take(this._data, rows)
        segment = Segment(0, rows.size, coef.T, np.arange(len(C)))
        return np.asarray(
            cross_products(this.kernel_, X, reference, [segment], len(C), this._workers()) + intercepts
        )
