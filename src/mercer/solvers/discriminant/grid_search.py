"""Cross-validation of regularized discriminants over the (alpha, gamma) square."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from mercer.arrays import Float64, Index
from mercer.problems.discriminant.rules import log_priors
from mercer.problems.discriminant.summary import ClassSummary
from mercer.solvers.discriminant.pooled_spectrum import PooledSpectrum

SCORINGS = ("accuracy", "neg_log_loss")


@dataclass(frozen=True)
class Surface:
    """Scores of every split at every point of the grid, of shape (n_splits, n_alphas, n_gammas)."""

    alphas: Float64
    gammas: Float64
    scores: Float64

    def best(self) -> tuple[float, float, float]:
        """Return the pair of largest mean score, and that score.

        Of equals it is the smallest alpha, then the smallest gamma: the most regularized.
        A point at which some split had no density for some class (nan) is never chosen.
        """
        mean = self.scores.mean(axis=0)
        if np.isnan(mean).all():
            raise ValueError(
                f"No point of the grid alphas={self.alphas}, gammas={self.gammas} is defined in all splits "
                "of cv: a class covariance is singular. Include alphas below 1"
            )
        # Means of the same scores in another order differ in their last digits; that is no difference.
        top = np.nanmax(mean)
        i, j = np.argwhere(mean >= top - 1e-12 * max(1.0, abs(float(top))))[0]
        return float(self.alphas[i]), float(self.gammas[j]), float(mean[i, j])

    def results(self) -> dict[str, Float64]:
        """Return the whole surface as a dictionary of arrays."""
        return {
            "alphas": self.alphas,
            "gammas": self.gammas,
            "split_test_scores": self.scores,
            "mean_test_score": self.scores.mean(axis=0),
            "std_test_score": self.scores.std(axis=0),
        }


@dataclass(frozen=True)
class GridSearch:
    """What to try and how to judge it."""

    alphas: Float64
    gammas: Float64
    scoring: str
    priors: Float64 | None
    tol: float

    def run(self, X: Float64, codes: Index, splits: Iterable[tuple[Index, Index]]) -> Surface:
        """Score every split at every point of the grid; ``codes`` are the classes 0, 1, ..."""
        scores = [self._split(X, codes, train, test) for train, test in splits]
        return Surface(self.alphas, self.gammas, np.array(scores))

    def _split(self, X: Float64, codes: Index, train: Index, test: Index) -> Float64:
        summary = ClassSummary.of(X[train], codes[train])
        present = summary.classes
        if len(present) < 2:
            raise ValueError("cv gives a training split with fewer than two classes")
        if len(present) <= codes.max() and self.scoring == "neg_log_loss":
            raise ValueError("scoring='neg_log_loss' needs every class in every training split of cv")
        logs = log_priors(summary.proportions if self.priors is None else self.priors[present])
        pooled = PooledSpectrum(X[train], summary, self.tol)
        out = np.full((len(self.alphas), len(self.gammas)), np.nan)
        for j, gamma in enumerate(self.gammas):
            spectra = pooled.spectra(float(gamma))
            rank = spectra.sphering.rank
            defined = np.array([spectra.ranks(float(alpha), self.tol).min() == rank for alpha in self.alphas])
            if rank > 0 and defined.any():
                discriminants = spectra.log_densities(X[test], self.alphas[defined]) + logs
                out[defined, j] = self._score(discriminants, present, codes[test])
        return out

    def _score(self, discriminants: Float64, present: Index, codes: Index) -> Float64:
        """Average over the rows, for each alpha."""
        if self.scoring == "accuracy":
            right: Float64 = (present[discriminants.argmax(axis=2)] == codes).mean(axis=1)
            return right
        logarithms = log_softmax(discriminants, axis=2)
        likelihood: Float64 = logarithms[:, np.arange(len(codes)), codes].mean(axis=1)
        return likelihood
