"""What all lines of a report share: how sure, how far out, and what bias and choices cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from mercer.bounds.checks import count, positive, share, sure
from mercer.bounds.promises import Assumption
from mercer.kernels import Centered, Kernel, Precomputed, as_kernel
from mercer.kernels.sklearn_kernels import as_our_kernel

DRAWN = Assumption(
    "The training points were drawn independently from one distribution, and new points come from it too.",
    "yours",
)


@dataclass(frozen=True)
class Options:
    """What a user may say to a report; see :func:`mercer.bounds.report`."""

    delta: float = 0.05
    radius: float | None = None
    tau: float | None = None
    candidates: int = 1
    chosen_elsewhere: bool = False
    tolerance: float | None = None
    target_bound: float | None = None
    rate: float = 0.1
    test: tuple[Any, Any] | None = None
    estimates: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        sure(self.delta)
        count("candidates", self.candidates)
        for name in ("radius", "tau", "tolerance", "target_bound"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        share("rate", self.rate)


@dataclass(frozen=True)
class Setting:
    """Options made concrete for one machine."""

    options: Options
    model: Any
    kernel: Kernel
    fixed: tuple[Assumption, ...] = field(default=())

    @property
    def delta(self) -> float:
        """The share of delta of each of the parameter settings that were compared on these rows."""
        return self.options.delta / self.options.candidates

    @property
    def radius(self) -> float | None:
        """R, the radius of the distribution's support: given, or known of the kernel; never the sample's."""
        if self.options.radius is not None:
            return self.options.radius
        bound = self.kernel.diagonal_bound
        return math.sqrt(bound) if bound is not None and bound > 0.0 else None  # a ball has some width

    @property
    def tau(self) -> float:
        """The size of the coordinate that carries a bias; it must not depend on the data."""
        return self.options.tau or self.radius or 1.0

    @property
    def extent(self) -> Assumption:
        """What is known about the radius."""
        if self.options.radius is not None:
            return Assumption(
                f"No point of the distribution lies farther than R = {self.options.radius:g} from the origin "
                "of feature space: radius= says so.",
                "yours",
            )
        return Assumption(
            f"No point of the distribution lies farther than R = {self.radius:.4g} from the origin of "
            "feature space: this kernel is bounded.",
            "met",
        )

    def common(self) -> tuple[Assumption, ...]:
        """Return what every statement about a fixed class of functions rests on."""
        return (DRAWN, *self.fixed)

    def bias(self) -> Assumption:
        """Return how the bias is paid for."""
        how = "as large as R" if self.radius is not None else "give tau= for another"
        return Assumption(
            f"The bias is one more coordinate of a size fixed beforehand: tau = {self.tau:.4g}, "
            + ("as tau= says." if self.options.tau else f"{how}."),
            "yours" if self.options.tau else "met",
        )

    @staticmethod
    def grid(what: str, k: int) -> Assumption:
        """Return how a number that was read off the data is paid for."""
        return Assumption(
            f"Chosen after seeing the data: the {what}. Paid for by a union over {k} values fixed beforehand "
            f"(delta / {k}).",
            "met",
        )


def unwrap(model: Any, X: Any, options: Options) -> tuple[Any, Any, Options, list[Assumption]]:
    """Return the machine inside of searches and pipelines, its data, and what they do to promises."""
    found: list[Assumption] = []
    while True:
        if hasattr(model, "best_estimator_"):
            tried = len(model.cv_results_["params"])
            options = replace(options, candidates=max(options.candidates, tried))
            model = model.best_estimator_
        elif hasattr(model, "steps"):
            learned = [name for name, step in model.steps[:-1] if _learns(step)]
            if len(model.steps) > 1:
                X = model[:-1].transform(X)
            if learned:
                found.append(_data_dependent(f"The step {learned[0]!r} was fitted", options))
            model = model.steps[-1][1]
        else:
            if isinstance(getattr(model, "alpha", None), str) and getattr(model, "alphas", None) is not None:
                options = replace(options, candidates=options.candidates * len(model.alphas))
            return model, X, options, found


def _learns(step: Any) -> bool:
    if isinstance(step, str) or step is None:
        return False
    known = {"n_features_in_", "feature_names_in_"} | set(vars(clone(step)))
    return any(name.endswith("_") and not name.startswith("_") for name in set(vars(step)) - known)


def setting(model: Any, options: Options, found: list[Assumption], X: Any) -> Setting:
    """Look at the parameters of a machine and say which of them depend on the training data."""
    written = kernel_of(model)
    used: Any = getattr(model, "kernel_", None)
    if used is None:  # another library's machine keeps only what was asked for
        used = written.resolve(X)
    elif not isinstance(used, Kernel):  # a Gaussian process shows scikit-learn's where it was given one
        used = as_our_kernel(used)
    facts = list(found)
    if isinstance(written, Precomputed):
        facts.append(
            Assumption("The kernel behind the given matrix was fixed before these rows were seen.", "yours")
        )
    elif written.depends_on_data:
        facts.append(_data_dependent(f"{_what_waits(written)} computed", options))
    elif used != written.resolve(X):
        facts.append(_data_dependent(f"The kernel, {used!r}, was found", options))
    elif not found:
        facts.append(Assumption("The kernel does not depend on these rows.", "met"))
    if used.is_psd is None and not isinstance(written, Precomputed):
        facts.append(
            Assumption("The kernel is an inner product of some features; nothing here proves it.", "yours")
        )
    if getattr(model, "class_weight", None) == "balanced":
        facts.append(_data_dependent('The class weights ("balanced") were computed', options))
    if _loo_alpha(model):
        facts.append(
            _data_dependent('The penalty (alpha="loo", among values of its own) was chosen', options)
        )
    if options.chosen_elsewhere:
        facts.append(
            Assumption("All parameters were chosen on other data: chosen_elsewhere= says so.", "yours")
        )
    elif options.candidates > 1:
        facts.append(
            Assumption(
                f"{options.candidates} settings of the parameters were compared on these rows: paid for by a "
                f"union over them (delta / {options.candidates}).",
                "met",
            )
        )
    else:
        facts.append(
            Assumption(
                "The parameters (C, the kernel's) were fixed before these rows were seen. If k settings were "
                "compared on them, say candidates=k.",
                "yours",
            )
        )
    return Setting(options, model, used, tuple(facts))


def _loo_alpha(model: Any) -> bool:
    alpha = getattr(model, "alpha", None)
    return isinstance(alpha, str) and alpha == "loo" and getattr(model, "alphas", None) is None


def kernel_of(model: Any) -> Kernel:
    """Return the kernel that a model's parameters name, not yet resolved."""
    if hasattr(model, "_kernel") and callable(model._kernel):
        kernel: Kernel = model._kernel()
        return kernel
    if not hasattr(model, "kernel"):
        return as_kernel("linear")
    gamma = getattr(model, "gamma", None)
    return as_kernel(
        model.kernel,
        gamma="auto" if gamma is None else gamma,
        degree=getattr(model, "degree", 3),
        coef0=getattr(model, "coef0", 0.0),
    )


def _what_waits(kernel: Kernel) -> str:
    """Return in words which part of a kernel the rows decide."""
    parts = [kernel, *(v for v in kernel.get_params().values() if isinstance(v, Kernel))]
    for part in parts:
        words = [(k, v) for k, v in part.get_params(deep=False).items() if isinstance(v, str) and v != "auto"]
        if part.depends_on_data and words:
            return f'The kernel\'s {words[0][0]}="{words[0][1]}" was'
    if any(isinstance(part, Centered) for part in parts):
        return "The centre of the kernel was"
    if any(part.keeps_data for part in parts):
        return "The spectrum of the kernel was"
    return f"Parameters of the kernel {kernel!r} were"


def _data_dependent(what: str, options: Options) -> Assumption:
    if options.chosen_elsewhere:
        return Assumption(f"{what} from other data than these rows: chosen_elsewhere= says so.", "yours")
    return Assumption(
        f"{what} from these rows, so the functions to choose from were not fixed before the data were seen. "
        "Fix it by hand, or by other data.",
        "broken",
    )
