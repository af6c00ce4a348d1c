"""What a machine has learned, in the features of its kernel: which substrings matter, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Float64
from mercer.kernels import BlendedSpectrum, Kernel, Mismatch, Normalized, OnColumns, Scaled, Spectrum
from mercer.kernels.counted import CountingMap
from mercer.kernels.feature_map import FeatureMap, column_names, inverse_roots


@dataclass(frozen=True)
class FeatureWeights:
    """The weights of a function that is linear in the features of its kernel.

    Attributes
    ----------
    names : tuple of str
        What the features are called.
    weights : float64 array of shape (n_functions, n_features)
        A row for each function of the machine: one for two classes and for regression.
    intercepts : float64 array of shape (n_functions,)
        What is added.
    """

    names: tuple[str, ...]
    weights: Float64
    intercepts: Float64

    def top(self, count: int = 10, function: int = 0) -> list[tuple[str, float]]:
        """Return the features that weigh most, heaviest first, whatever their sign.

        Parameters
        ----------
        count : int, default=10
            Most features to return.
        function : int, default=0
            Which function of the machine.

        Returns
        -------
        list of (str, float)
            Names and weights.
        """
        weights = self.weights[function]
        order = np.argsort(-np.abs(weights), kind="stable")[:count]
        return [(self.names[j], float(weights[j])) for j in order if weights[j] != 0]


def feature_weights(model: Any) -> FeatureWeights:
    r"""Return the weights of a fitted machine in the features of its kernel.

    A function :math:`f(x) = \sum_i \beta_i k(x_i, x) + b` is linear in the features of its kernel,
    :math:`f(x) = \langle w, \phi(x) \rangle + b` with :math:`w = \sum_i \beta_i \phi(x_i)`. Where the
    features can be listed (substrings of strings, columns of numbers), so can their weights.

    Parameters
    ----------
    model : estimator
        Fitted, with ``support_vectors_`` and ``dual_coef_``; also the last step of a pipeline, or the best of
        a search. Of several classes it must be one against the rest, so that each row is a class.

    Returns
    -------
    FeatureWeights

    Examples
    --------
    >>> import mercer
    >>> from mercer.inspect import feature_weights
    >>> words, kinds = ["abab", "baba", "aaaa", "aaab"], [1, 1, 0, 0]
    >>> model = mercer.SVC(kernel=mercer.kernels.Spectrum(2)).fit(words, kinds)
    >>> [(name, round(weight, 2)) for name, weight in feature_weights(model).top(1)]
    [('aa', -0.67)]
    """
    machine = _machine(model)
    fitted = listed_features(machine)
    if fitted is None:
        raise ValueError(
            f"{machine.kernel_!r} has no features that could be listed; kernels that count substrings "
            "(Spectrum, BlendedSpectrum, Mismatch, GappyPairs), Linear, and sums of these have"
        )
    features = fitted.transform(machine.support_vectors_)
    weights = np.asarray(machine._coefficients @ features)
    return FeatureWeights(fitted.names, weights, np.ravel(np.asarray(machine.intercept_, dtype=np.float64)))


def listed_features(machine: Any) -> FeatureMap | None:
    """Return the features of a fitted machine's kernel on its support vectors; None where it has no list."""
    support, names = machine.support_vectors_, getattr(machine, "feature_names_in_", None)
    found: FeatureMap | None = machine.kernel_.feature_map_on(support, column_names(support, names))
    return found


def along_sequence(model: Any, sequence: Any, function: int = 0) -> Float64:
    r"""Return how much each symbol of a sequence adds to the decision of a fitted machine.

    Each substring adds its weight to the decision. Here its symbols share it equally, so that

    .. math::
        f(x) = b + \sum_p a_p, \qquad a_p = \frac{1}{\|\phi(x)\|} \sum_{u \ni p} \frac{w_u}{|u|}

    over the substrings u that go over the place p (the norm only for a kernel that is normalised).

    Parameters
    ----------
    model : estimator
        As for `feature_weights`; its kernel is a `Spectrum`, a `BlendedSpectrum` or a `Mismatch`, perhaps
        normalised, multiplied by a number, or on one column of a table.
    sequence : str, bytes or sequence of tokens
        One item.
    function : int, default=0
        Which function of the machine.

    Returns
    -------
    float64 array of shape (len(sequence),)
    """
    machine = _machine(model)
    kernel, support = machine.kernel_, machine.support_vectors_
    scale, normalized = 1.0, False
    while isinstance(kernel, Normalized | Scaled | OnColumns):
        if isinstance(kernel, OnColumns):
            support = kernel.seen(support)
        scale *= float(kernel.scale) if isinstance(kernel, Scaled) and not normalized else 1.0
        normalized = normalized or isinstance(kernel, Normalized)
        kernel = kernel.kernel
    if not isinstance(kernel, BlendedSpectrum | Mismatch):
        raise ValueError(f"{kernel!r} does not count substrings: use Spectrum, BlendedSpectrum or Mismatch")
    item = kernel.check([sequence])
    fitted = kernel.feature_map_on(support, None)
    assert isinstance(fitted, CountingMap)
    rows = fitted.transform(support)
    if normalized:
        rows = rows.multiply(inverse_roots(fitted.squared_norms(support))[:, None]).tocsr()
        scale *= float(inverse_roots(fitted.squared_norms(item))[0])
    weights = scale * np.asarray(machine._coefficients[function] @ rows).ravel()
    return _shared(kernel, fitted, weights, item[0])


def _shared(kernel: Kernel, fitted: CountingMap, weights: Float64, item: Any) -> Float64:
    """Return the weights of all substrings of an item, each shared by its symbols."""
    total = np.zeros(len(item))
    for length, part in _by_length(kernel, fitted):
        mine = np.zeros(weights.size)
        mine[part] = weights[part]
        windows = [item[start : start + length] for start in range(len(item) - length + 1)]
        values = np.asarray(fitted.transform(kernel.check(windows)) @ mine) if windows else np.zeros(0)
        for start, value in enumerate(values.tolist()):
            total[start : start + length] += value / length
    return total


def _by_length(kernel: Kernel, fitted: CountingMap) -> list[tuple[int, slice]]:
    """Return the lengths of the substrings that a kernel counts, and which features have them."""
    if not isinstance(kernel, BlendedSpectrum) or isinstance(kernel, Spectrum):
        return [(int(kernel.k), slice(None))]  # type: ignore[attr-defined]
    ends = np.cumsum([0, *(fitted.counting.vocabulary.size(j) for j in range(1, int(kernel.k) + 1))])
    return [(j, slice(int(ends[j - 1]), int(ends[j]))) for j in range(1, int(kernel.k) + 1)]


def _machine(model: Any) -> Any:
    """Return the fitted machine inside of a pipeline or a search."""
    check_is_fitted(model)
    machine = getattr(model, "best_estimator_", model)
    machine = machine[-1] if isinstance(machine, Pipeline) else machine
    if not hasattr(machine, "support_vectors_") or not hasattr(machine, "_coefficients"):
        raise TypeError(f"{type(machine).__name__} is not a sum over support vectors, so it has no weights")
    several = len(getattr(machine, "classes_", ())) > 2
    if several and getattr(machine, "multiclass", "ovo") != "ovr" and not getattr(machine, "_joint", False):
        raise ValueError(
            "machines of pairs of classes have no weights of their own: fit with multiclass='ovr'"
        )
    return machine
