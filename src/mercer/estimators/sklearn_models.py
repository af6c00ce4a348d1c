"""Models of scikit-learn as ours, and ours as scikit-learn's."""

from __future__ import annotations

import inspect
import math
import warnings
from functools import cache
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn.svm
from sklearn.utils.validation import check_is_fitted

from mercer.estimators.approximation._values import has_features
from mercer.estimators.parametric import has_parametric
from mercer.estimators.probability import UNSET, wants_probabilities
from mercer.estimators.user_warnings import warn_user
from mercer.gram import Segment, cross_products
from mercer.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from mercer.kernels.data import is_sparse
from mercer.problems import Certificate, combine
from mercer.problems.platt_sigmoid import link_of_sigmoid
from mercer.solvers.calibration.sigmoid import nearest_sigmoid

NAMES: dict[type, str] = {
    Linear: "linear",
    Polynomial: "poly",
    RBF: "rbf",
    Sigmoid: "sigmoid",
    Precomputed: "precomputed",
}


def named_kernel(kernel: Kernel, whose: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a kernel that LIBSVM has, or refuse it by name.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    whose : str
        Who has only those kernels, for the message.
    """
    name = NAMES.get(type(kernel))
    if name is None:
        raise ValueError(
            f"kernel {kernel.expression()} cannot be given to {whose}, which has linear, "
            f"polynomial, rbf, sigmoid and "
            "precomputed kernels only"
        )
    params = {k: getattr(kernel, k) for k in ("degree", "gamma", "coef0") if hasattr(kernel, k)}
    degree = params.get("degree", 3)
    if degree != int(degree):
        raise ValueError(f"degree={degree} cannot be given to {whose}, whose degrees are integers")
    return name, params


class TwinMixin:
    """``from_sklearn`` and ``to_sklearn`` of the machines that scikit-learn has too."""

    _stays_dense = True

    @property
    def _dual_coef_(self) -> Any:
        """``dual_coef_`` with scikit-learn's private sign: tools that know their machines read and set it."""
        this: Any = self
        two = hasattr(this, "classes_") and len(this.classes_) == 2
        return -this.dual_coef_ if two else this.dual_coef_

    @_dual_coef_.setter
    def _dual_coef_(self, value: Any) -> None:
        this: Any = self
        two = hasattr(this, "classes_") and len(this.classes_) == 2
        this.dual_coef_ = -value if two else value

    @classmethod
    def _twin(cls) -> Any:
        """Return the class of scikit-learn with the same name."""
        return next(getattr(sklearn.svm, c.__name__) for c in cls.__mro__ if hasattr(sklearn.svm, c.__name__))

    @classmethod
    def from_sklearn(cls, model: Any) -> Self:
        """Return a fitted model of scikit-learn as one of ours: same parameters, same decisions.

        Nothing is proved of it yet: ``certificate_`` says so, and ``certify`` with the training data finds
        out. Probabilities are those of its sigmoids, except where they would contradict ``predict``.

        Parameters
        ----------
        model : estimator of sklearn.svm
            Fitted, of the class of the same name.

        Returns
        -------
        Self
            A fitted estimator.
        """
        twin = cls._twin()
        if not isinstance(model, twin):
            raise TypeError(
                f"{cls.__name__}.from_sklearn takes a sklearn.svm.{twin.__name__}, not a "
                f"{type(model).__name__}"
            )
        check_is_fitted(model)
        ours = inspect.signature(cls).parameters
        given = {k: v for k, v in model.get_params(deep=False).items() if k in ours}
        made: Any = cls(**given)
        kernel = made._kernel()
        resolved = kernel.replaced(gamma=float(model._gamma)) if hasattr(kernel, "gamma") else kernel
        kept = model.support_vectors_
        if callable(model.kernel):
            kept = resolved.take(model._BaseLibSVM__Xfit, model.support_)
            made._items_fit = resolved.take(model._BaseLibSVM__Xfit, np.arange(model.shape_fit_[0]))
        two = hasattr(model, "classes_") and len(model.classes_) == 2
        probability = getattr(model, "_probA", np.empty(0)) if hasattr(model, "classes_") else np.empty(0)
        made._adopt(
            kernel=resolved,
            support=np.array(model.support_, dtype=np.int32),
            vectors=np.empty((0, 0)) if isinstance(resolved, Precomputed) else kept.copy(),
            dual_coef=model.dual_coef_.copy(),
            intercept=np.array(model.intercept_, dtype=np.float64),
            shape=tuple(int(s) for s in model.shape_fit_),
            n_support=getattr(model, "n_support_", None),
            classes=getattr(model, "classes_", None),
            # Of two classes scikit-learn's sigmoid is about the first, our machine about the second.
            sigmoids=(np.array(probability), np.array(model._probB) * (-1.0 if two else 1.0))
            if np.size(probability)
            else None,
        )
        if hasattr(made, "classes_"):
            made.class_weight_ = np.array(model.class_weight_, dtype=np.float64)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(made, name, getattr(model, name))
        steps = np.atleast_1d(model.n_iter_)
        made.n_iter_ = steps.astype(np.int32) if hasattr(made, "classes_") else max(1, int(steps.max()))
        made.fit_status_ = int(model.fit_status_)
        made.certificate_ = _unproved(resolved, steps.tolist(), made.fit_status_ == 0)
        whole: Self = made
        return whole

    def _adopt(
        self,
        *,
        kernel: Kernel,
        support: np.ndarray,
        vectors: Any,
        dual_coef: Any,
        intercept: np.ndarray,
        shape: tuple[int, ...],
        n_support: Any = None,
        classes: Any = None,
        sigmoids: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Take over what another program has learned, in our layout."""
        this: Any = self
        this.kernel_, this.shape_fit_ = kernel, shape
        this._gamma = getattr(kernel, "gamma", 0.0)
        this.support_, this.support_vectors_ = support, vectors
        this.dual_coef_, this.intercept_ = dual_coef, intercept
        if classes is None:
            if hasattr(this, "score_samples"):
                this.offset_ = 0.0 - intercept
            return
        this.classes_ = np.array(classes)
        this.class_weight_ = np.ones(this.classes_.size)
        this._n_support = np.array(n_support, dtype=np.int32)
        if not isinstance(kernel, Precomputed):
            this.margin_ = this._per_machine(_margins(this))
        if sigmoids is not None:
            this.probability = True
            links = [link_of_sigmoid(float(a), float(b)) for a, b in zip(*sigmoids, strict=True)]
            this.link_knots_ = np.array([knots for knots, _ in links])
            this.link_slopes_ = np.array([slopes for _, slopes in links])
            vars(this)["probA_"], vars(this)["probB_"] = sigmoids

    def _sigmoids(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return Platt's A and B of each machine: those that were given, else the nearest to our links."""
        this: Any = self
        if "probA_" in vars(this):
            return np.array(vars(this)["probA_"]), np.array(vars(this)["probB_"])
        if not hasattr(this, "link_knots_"):
            return None
        pairs = [nearest_sigmoid(k, s) for k, s in zip(this.link_knots_, this.link_slopes_, strict=True)]
        return np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])

    def to_sklearn(self) -> Any:
        """Return this model as one of scikit-learn, fitted, with the same decisions.

        Probabilities become those of the nearest sigmoids, the form that scikit-learn has.

        Returns
        -------
        estimator of sklearn.svm
            Of the class of the same name.
        """
        this: Any = self
        check_is_fitted(this)
        twin = type(this)._twin()
        name, params = named_kernel(this.kernel_, "scikit-learn")
        refuse_rest(this, "scikit-learn")
        theirs = inspect.signature(twin).parameters
        given = {k: v for k, v in this.get_params(deep=False).items() if k in theirs}
        given.update(
            {k: v for k, v in params.items() if k in theirs and not (k == "gamma" and this.kernel == name)}
        )
        given["kernel"] = name
        given["degree"] = int(given.get("degree", 3))
        if given.get("probability") == UNSET and theirs["probability"].default != UNSET:  # before 1.9
            given["probability"] = False
        made = twin(**given)
        classes = getattr(this, "classes_", None)
        sparse = is_sparse(this.support_vectors_)
        made._sparse = sparse
        made._gamma = float(params.get("gamma", 0.0))
        made.shape_fit_ = tuple(this.shape_fit_)
        made.support_ = np.array(this.support_, dtype=np.int32)
        made.support_vectors_ = _their_vectors(this)
        dense = np.array(this._coefficients, dtype=np.float64)
        sign = -1.0 if classes is not None and classes.size == 2 else 1.0
        made.dual_coef_ = _with_zeros(dense) if sparse else dense
        made._dual_coef_ = _with_zeros(sign * dense) if sparse else sign * dense
        made.intercept_ = np.array(this.intercept_, dtype=np.float64)
        made._intercept_ = sign * made.intercept_
        made._n_support = np.array(
            this.n_support_ if classes is not None else [made.support_.size, 0], dtype=np.int32
        )
        made._num_iter = made.n_iter_ = np.atleast_1d(this.n_iter_).astype(np.int32)
        made.n_iter_ = made.n_iter_ if classes is not None else int(made.n_iter_[0])
        made.fit_status_ = int(getattr(this, "fit_status_", 0))
        made.class_weight_ = np.ones(1) if classes is None else np.array(this.class_weight_, dtype=np.float64)
        made._probA = made._probB = np.empty(0)
        made._effective_probability = wants_probabilities(this)  # asked for since version 1.8
        if classes is not None:
            made.classes_ = np.array(classes)
            sigmoids = this._sigmoids()
            if sigmoids is not None:
                made._probA, made._probB = sigmoids[0], sign * sigmoids[1]
        elif hasattr(this, "offset_"):
            made.offset_ = np.array(this.offset_)
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(this, attribute):
                setattr(made, attribute, getattr(this, attribute))
        return made


class PlattNamesMixin:
    """What scikit-learn has announced to remove: ``probability``, ``probA_`` and ``probB_``."""

    def _announce_removal(self) -> None:
        """Warn of a ``probability=False`` that is written out, as scikit-learn does."""
        if _default_of_theirs("probability") == UNSET:
            warn_user(
                "The `probability` parameter is deprecated in scikit-learn 1.9 and will be removed there in "
                "1.11: leave out probability=False, the default (probability=True stays in mercer)",
                FutureWarning,
            )

    def _platt(self, number: int, name: str) -> np.ndarray:
        this: Any = self
        check_is_fitted(this)
        warnings.warn(
            f"Attribute `{name}` was deprecated by scikit-learn 1.8 and will be removed with it: use "
            "predict_proba or to_sklearn",
            FutureWarning,
            stacklevel=3,
        )
        sigmoids = this._sigmoids()
        return np.empty(0) if sigmoids is None else np.array(sigmoids[number])

    @property
    def probA_(self) -> np.ndarray:  # noqa: N802
        """Platt's A of each machine: those that were given, else of the sigmoids nearest to our links."""
        return self._platt(0, "probA_")

    @probA_.setter
    def probA_(self, value: np.ndarray) -> None:  # noqa: N802
        vars(self)["probA_"] = value

    @property
    def probB_(self) -> np.ndarray:  # noqa: N802
        """Platt's B of each machine: those that were given, else of the sigmoids nearest to our links."""
        return self._platt(1, "probB_")

    @probB_.setter
    def probB_(self, value: np.ndarray) -> None:  # noqa: N802
        vars(self)["probB_"] = value


@cache
def _default_of_theirs(name: str) -> Any:
    """Return the default of a parameter of scikit-learn's SVC."""
    return inspect.signature(sklearn.svm.SVC).parameters[name].default


def refuse_rest(model: Any, whose: str) -> None:
    """Refuse what LIBSVM does not have: one machine per class, columns beside the kernel, thresholds."""
    if has_features(model):
        raise ValueError(
            f"a machine on features (approximation={model.approximation!r}) cannot be given to {whose}, "
            "whose functions are sums over support vectors: save it with mercer.save, or fit with "
            "approximation=None"
        )
    if has_parametric(model):
        raise ValueError(
            f"columns beside the kernel (parametric) cannot be given to {whose}, whose functions are sums of "
            "kernel values and a bias: fit with parametric=None"
        )
    if getattr(model, "threshold", 0.0):
        raise ValueError(f"threshold={model.threshold!r} cannot be given to {whose}, which has none")
    classes = getattr(model, "classes_", None)
    outputs = np.size(getattr(model, "intercept_", 0.0))
    if classes is None and outputs > 1:
        raise ValueError(f"a model of {outputs} targets cannot be given to {whose}, which has one")
    kind = getattr(model, "multiclass", "ovo")
    if classes is not None and (classes.size > 2 or kind == "joint") and kind != "ovo":
        raise ValueError(
            f"multiclass={kind!r} cannot be given to {whose}, which has a machine for each pair of classes"
        )


def _with_zeros(dense: np.ndarray) -> Any:
    """Return a sparse matrix that stores every entry: scikit-learn hands its values to LIBSVM as they lie."""
    rows, m = dense.shape
    return sp.csr_matrix(
        (dense.ravel(), np.tile(np.arange(m), rows), m * np.arange(rows + 1)), shape=dense.shape
    )


def _their_vectors(model: Any) -> Any:
    kept = model.support_vectors_
    if is_sparse(kept):
        return sp.csr_matrix(kept, dtype=np.float64)
    if isinstance(model.kernel_, Precomputed):
        return np.empty((0, 0))
    return np.array(kept, dtype=np.float64, order="C")


def _margins(model: Any) -> list[float]:
    """Return 1 / ||w|| of each machine."""
    segments, outputs = model._segments()
    vectors = model.support_vectors_
    F = cross_products(model.kernel_, vectors, vectors, segments, outputs, model._workers())
    squares = np.zeros(outputs)
    for segment in segments:
        rows: Segment = segment
        squares[rows.outputs] += (F[rows.start : rows.stop][:, rows.outputs] * rows.coef).sum(axis=0)
    return [1.0 / math.sqrt(s) if s > 0 else math.inf for s in squares.tolist()]


def _unproved(kernel: Kernel, steps: list[int], converged: bool) -> Certificate:
    """Return the certificate of a model of which nothing is proved yet."""
    gap = math.inf if kernel.is_psd else math.nan
    status = ("optimal" if kernel.is_psd else "stationary") if converged else "iteration_limit"
    parts = [Certificate(math.inf, -math.inf, gap, gap, math.inf, int(n), status, "kkt") for n in steps]
    whole = combine(parts[:1])
    return Certificate(
        math.inf, -math.inf, gap, gap, math.inf, int(sum(steps)), whole.status, "kkt", tuple(parts)
    )
