"""scikit-learn estimators: validate, state the problem, call a solver, keep the answer. No mathematics."""

from mercer.estimators.svc import SVC

__all__ = ["SVC"]
