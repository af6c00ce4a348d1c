"""Choosing the kernel of a detector without a single novelty: as narrow as it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Float64
from mercer.selection.parameter_grids import final_machine, short, simplicity
from mercer.selection.score_table import ScoreTable

SURE = 2.0  # standard deviations by which the rejected share of held-out rows may exceed nu


@dataclass(frozen=True)
class Accepted:
    """The score of a detector: a value, so that a search that holds it can be written to a file."""

    def __call__(self, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of points, or of their weight, that a detector takes for normal."""
        return float(np.average(np.asarray(model.predict(X)) > 0, weights=sample_weight))


def effective_rows(weight: Any, rows: NDArray[np.intp]) -> float:
    """Return how many equally weighted rows tell a share as exactly as these do: (sum w)^2 / sum w^2.

    References
    ----------
    Kish (1965), Survey Sampling.
    """
    if weight is None:
        return float(rows.size)
    w = np.asarray(weight, dtype=np.float64)[rows]
    if not w.size or not w.max() > 0:
        return 0.0
    w = w / w.max()  # the share is the same in any unit, and the squares neither overflow nor vanish
    return float(w.sum() ** 2 / np.square(w).sum())


def wished_share(estimator: Any, candidates: list[dict[str, Any]]) -> float:
    """Return nu, the share of normal points that may be lost, or say why it is not known."""
    if any(short(name) in ("nu", "C") for c in candidates for name in c):
        raise ValueError(
            "method='consistency' cannot choose nu: it is the fraction of normal points that you are willing "
            "to reject. Set it in the estimator, and search over the kernel"
        )
    nu = getattr(final_machine(estimator), "nu", None)
    if nu is None or not 0.0 < nu < 1.0:
        raise ValueError(f"method='consistency' needs an estimator with 0 < nu < 1, got nu={nu!r}")
    return float(nu)


class ConsistencyTable(ScoreTable):
    r"""Shares of held-out rows that are accepted.

    A detector with a kernel that is too narrow has learned its rows by heart, and rejects many more of the
    others than nu. The choice is the narrowest kernel that is consistent: which rejects no more than

    .. math:: \nu + 2 \sqrt{\nu (1 - \nu) / n}

    of n held-out rows; the simpler choice allows one standard deviation instead of two. With sample weights
    the shares are those of the weight, and n is :math:`(\sum w_i)^2 / \sum w_i^2`.

    References
    ----------
    Tax and Mueller (2004), A consistency-based model selection for one-class classification, ICPR.
    """

    nu: float = 0.1
    n: float = 1.0

    @property
    def standard_errors(self) -> Float64:
        """Standard deviation of the accepted share if nu were the truth."""
        return np.full(len(self.candidates), np.sqrt(self.nu * (1.0 - self.nu) / self.n))

    def _narrowest(self, deviations: float) -> int:
        least = 1.0 - self.nu - deviations * float(self.standard_errors[0])
        known, means = self.complete, self.means
        for k in reversed(simplicity(self.candidates)):
            if known[k] and means[k] >= least:
                return k
        return int(np.nanargmax(np.where(known, means, np.nan)))  # none is: the one that comes nearest

    def best(self) -> int:
        """Return the narrowest kernel that is consistent."""
        return self._narrowest(SURE)

    def one_standard_error(self) -> int:
        """Return the narrowest kernel within one standard deviation."""
        return self._narrowest(1.0)
