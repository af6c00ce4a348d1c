"""LIBSVM's way of writing options: a letter, then its value; numbers read as C reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?)")
WHOLE = re.compile(r"\s*[+-]?\d+")

TRAIN_USAGE = """Usage: svm-train [options] training_set_file [model_file]
options:
-s svm_type : set type of SVM (default 0)
\t0 -- C-SVC\t\t(multi-class classification)
\t1 -- nu-SVC\t\t(multi-class classification)
\t2 -- one-class SVM
\t3 -- epsilon-SVR\t(regression)
\t4 -- nu-SVR\t\t(regression)
-t kernel_type : set type of kernel function (default 2)
\t0 -- linear: u'*v
\t1 -- polynomial: (gamma*u'*v + coef0)^degree
\t2 -- radial basis function: exp(-gamma*|u-v|^2)
\t3 -- sigmoid: tanh(gamma*u'*v + coef0)
\t4 -- precomputed kernel (kernel values in training_set_file)
-d degree : set degree in kernel function (default 3)
-g gamma : set gamma in kernel function (default 1/num_features)
-r coef0 : set coef0 in kernel function (default 0)
-c cost : set the parameter C of C-SVC, epsilon-SVR, and nu-SVR (default 1)
-n nu : set the parameter nu of nu-SVC, one-class SVM, and nu-SVR (default 0.5)
-p epsilon : set the epsilon in loss function of epsilon-SVR (default 0.1)
-m cachesize : set cache memory size in MB (default 100)
-e epsilon : set tolerance of termination criterion (default 0.001)
-h shrinking : whether to use the shrinking heuristics, 0 or 1 (default 1)
-b probability_estimates : whether to train a model for probability estimates, 0 or 1 (default 0)
-wi weight : set the parameter C of class i to weight*C, for C-SVC (default 1)
-v n : n-fold cross validation mode
-q : quiet mode (no outputs)
"""
PREDICT_USAGE = """Usage: svm-predict [options] test_file model_file output_file
options:
-b probability_estimates : whether to predict probability estimates, 0 or 1 (default 0)
-q : quiet mode (no outputs)
"""
SCALE_USAGE = """Usage: svm-scale [options] data_filename
options:
-l lower : x scaling lower limit (default -1)
-u upper : x scaling upper limit (default +1)
-y y_lower y_upper : y scaling limits (default: no y scaling)
-s save_filename : save scaling parameters to save_filename
-r restore_filename : restore scaling parameters from restore_filename
"""


class UsageError(Exception):
    """The command line cannot be understood; ``usage`` is what to print."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


@dataclass
class TrainFlags:
    """What svm-train was asked for, under LIBSVM's names."""

    svm_type: int = 0
    kernel_type: int = 2
    degree: int = 3
    gamma: float = 0.0  # 0: one divided by the largest feature number
    coef0: float = 0.0
    cost: float = 1.0
    nu: float = 0.5
    p: float = 0.1
    cache: float = 100.0
    eps: float = 1e-3
    shrinking: int = 1
    probability: int = 0
    weights: dict[int, float] = field(default_factory=dict)
    folds: int = 0
    quiet: bool = False
    data: str = ""
    model: str = ""

    def check(self) -> None:
        """Refuse what LIBSVM refuses, in its words."""
        wrong = [
            (not 0 <= self.svm_type <= 4, "unknown svm type"),
            (not 0 <= self.kernel_type <= 4, "unknown kernel type"),
            (self.kernel_type in (1, 2, 3) and self.gamma < 0, "gamma < 0"),
            (self.kernel_type == 1 and self.degree < 0, "degree of polynomial kernel < 0"),
            (self.cache <= 0, "cache_size <= 0"),
            (self.eps <= 0, "eps <= 0"),
            (self.svm_type in (0, 3, 4) and self.cost <= 0, "C <= 0"),
            (self.svm_type in (1, 2, 4) and not 0 < self.nu <= 1, "nu <= 0 or nu > 1"),
            (self.svm_type == 3 and self.p < 0, "p < 0"),
            (self.shrinking not in (0, 1), "shrinking != 0 and shrinking != 1"),
            (self.probability not in (0, 1), "probability != 0 and probability != 1"),
        ]
        for bad, message in wrong:
            if bad:
                raise ValueError(message)


@dataclass
class PredictFlags:
    """What svm-predict was asked for."""

    probability: int = 0
    quiet: bool = False
    data: str = ""
    model: str = ""
    output: str = ""


@dataclass
class ScaleFlags:
    """What svm-scale was asked for."""

    lower: float = -1.0
    upper: float = 1.0
    y_limits: tuple[float, float] | None = None
    save: str | None = None
    restore: str | None = None
    data: str = ""


def number(text: str) -> float:
    """Return the number that a text begins with, 0 if none: C's atof."""
    if text.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
        return float(text)
    found = NUMBER.match(text)
    return float(found[0]) if found else 0.0


def whole(text: str) -> int:
    """Return the whole number that a text begins with, 0 if none: C's atoi."""
    found = WHOLE.match(text)
    return int(found[0]) if found else 0


def parse_train(arguments: Sequence[str]) -> TrainFlags:
    """Return the flags of svm-train."""
    flags = TrainFlags()
    floats = {"g": "gamma", "r": "coef0", "n": "nu", "m": "cache", "c": "cost", "e": "eps", "p": "p"}
    wholes = {"s": "svm_type", "t": "kernel_type", "d": "degree", "h": "shrinking", "b": "probability"}
    rest: list[str] = []
    for name, values in _pairs(arguments, rest, TRAIN_USAGE):
        letter = name[1:2]
        if letter == "q":
            flags.quiet = True
        elif letter in floats:
            setattr(flags, floats[letter], number(values[0]))
        elif letter in wholes:
            setattr(flags, wholes[letter], whole(values[0]))
        elif letter == "v":
            flags.folds = whole(values[0])
            if flags.folds < 2:
                raise UsageError("n-fold cross validation: n must >= 2", TRAIN_USAGE)
        elif letter == "w":
            flags.weights[whole(name[2:])] = number(values[0])
        else:
            raise UsageError(f"Unknown option: -{letter}", TRAIN_USAGE)
    if not rest:
        raise UsageError("", TRAIN_USAGE)
    flags.data = rest[0]
    flags.model = rest[1] if len(rest) > 1 else rest[0].rpartition("/")[2] + ".model"
    return flags


def parse_predict(arguments: Sequence[str]) -> PredictFlags:
    """Return the flags of svm-predict."""
    flags = PredictFlags()
    rest: list[str] = []
    for name, values in _pairs(arguments, rest, PREDICT_USAGE):
        if name[1:2] == "q":
            flags.quiet = True
        elif name[1:2] == "b":
            flags.probability = whole(values[0])
        else:
            raise UsageError(f"Unknown option: -{name[1:2]}", PREDICT_USAGE)
    if len(rest) < 3:
        raise UsageError("", PREDICT_USAGE)
    flags.data, flags.model, flags.output = rest[:3]
    return flags


def parse_scale(arguments: Sequence[str]) -> ScaleFlags:
    """Return the flags of svm-scale."""
    flags = ScaleFlags()
    rest: list[str] = []
    for name, values in _pairs(arguments, rest, SCALE_USAGE, two="y"):
        letter = name[1:2]
        if letter == "l":
            flags.lower = number(values[0])
        elif letter == "u":
            flags.upper = number(values[0])
        elif letter == "y":
            flags.y_limits = (number(values[0]), number(values[1]))
        elif letter == "s":
            flags.save = values[0]
        elif letter == "r":
            flags.restore = values[0]
        else:
            raise UsageError("unknown option", SCALE_USAGE)
    y = flags.y_limits
    if not flags.upper > flags.lower or (y is not None and not y[1] > y[0]):
        raise ValueError("inconsistent lower/upper specification")
    if flags.save and flags.restore:
        raise ValueError("cannot use -r and -s simultaneously")
    if len(rest) != 1:
        raise UsageError("", SCALE_USAGE)
    flags.data = rest[0]
    return flags


def _pairs(
    arguments: Sequence[str], rest: list[str], usage: str, two: str = ""
) -> Iterator[tuple[str, list[str]]]:
    """Yield each option with its values (-q has none, those in ``two`` have two); put the others in rest."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        name = arguments[position]
        needed = 0 if name[1:2] == "q" else 2 if name[1:2] and name[1:2] in two else 1
        values = list(arguments[position + 1 : position + 1 + needed])
        if len(values) < needed:
            raise UsageError("", usage)
        yield name, values
        position += 1 + needed
    rest.extend(arguments[position:])
