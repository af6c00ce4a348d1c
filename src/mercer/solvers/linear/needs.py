"""What solvers on features may need, each with the sentence that says what is missing."""

from __future__ import annotations

from mercer.problems.linear_risk import LinearRisk
from mercer.problems.losses.base import box_conjugate_of
from mercer.solvers.base import Need

ON_FEATURES = Need(
    lambda solver, gram, problem: isinstance(problem, LinearRisk),
    lambda solver, gram, problem: (
        "minimises over the weights of explicit features, as the linear machines do (LinearSVC, LinearSVR, "
        'LinearClassifier, LinearRegressor); this problem is one over a kernel matrix: use solver="auto"'
    ),
)

PENALISED_BIAS = Need(
    lambda solver, gram, problem: not problem.free_bias,
    lambda solver, gram, problem: (
        "moves one multiplier at a time, and cannot keep their sum at the value that an unpenalised bias "
        'asks for: use solver="auto" or "linear_newton", or fit_intercept=True or False'
    ),
)

QUADRATIC_CONJUGATE = Need(
    lambda solver, gram, problem: box_conjugate_of(problem.loss, problem.y[:1]) is not None,
    lambda solver, gram, problem: (
        f"needs a loss whose conjugate is quadratic on an interval, and that of {problem.loss!r} is not: use "
        'solver="auto" or "linear_newton"'
    ),
)
