"""Whether the parts of a model fit together: compiled loops trust the lengths that they are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from mercer.io.errors import ModelFileError
from mercer.io.model.allowlist import address, is_known_sklearn_kernel, plain_address
from mercer.io.model.feature_shapes import shapes_on_features
from mercer.io.model.fitted_shapes import ESTIMATORS
from mercer.io.model.record_shapes import RECORDS, Shapes
from mercer.io.model.sklearn_shapes import SKLEARN_SHAPES
from mercer.kernels import Kernel, OnColumns
from mercer.kernels.data import is_sparse
from mercer.kernels.mixed_columns import MixedColumns
from mercer.values import Value

Sizes = dict[str, int]
ANY = "*"
SHAPE = re.compile(
    r"(list\((?P<item>.+)\)|@(?P<record>\S+?)|(?P<kind>[a-z]+))(\[(?P<lengths>.*)\])?( < (?P<below>\w))?"
)


class Shape(NamedTuple):
    """One alternative of an entry of the tables."""

    kind: str
    inner: str  # of a list: what is in it; of a record: its name
    lengths: tuple[str, ...] | None
    below: str | None


@cache
def parsed(text: str) -> tuple[tuple[Shape, ...], bool]:
    """Return the alternatives of an entry, and whether prediction needs the attribute."""
    needed = text.endswith("!")
    shapes = []
    for part in text.removesuffix("!").split(" | "):
        found = SHAPE.fullmatch(part.strip())
        assert found is not None, part
        kind = "list" if found["item"] else "record" if found["record"] else found["kind"]
        lengths = None if found["lengths"] is None else tuple(found["lengths"].split(","))
        shapes.append(Shape(kind, found["item"] or found["record"] or "", lengths, found["below"]))
    return tuple(shapes), needed


def refuse(model: Any, why: str) -> Any:
    """Raise for an estimator."""
    raise ModelFileError(f"the parts of the {type(model).__name__} do not fit together: {why}")


def parts(model: Any) -> Iterator[Any]:
    """Yield a model and every estimator inside it."""
    yield model
    for value in vars(model).values():
        yield from _inside(value)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, BaseEstimator):
        yield from parts(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _inside(item)


def check(model: Any) -> None:
    """Refuse a model whose parameters are none, or whose fitted attributes contradict each other.

    Parameters
    ----------
    model : estimator
        As it was built from a file.
    """
    for part in parts(model):
        if hasattr(part, "_parameter_constraints"):
            try:
                part._validate_params()
            except (ValueError, TypeError) as error:
                raise ModelFileError(f"{type(part).__name__}: {error}") from error
        own = type(part).__module__.startswith("mercer.")
        shapes = (ESTIMATORS if own else SKLEARN_SHAPES).get(type(part).__name__)
        if shapes is not None and "feature_map_" in vars(part):
            shapes = shapes_on_features(shapes)
        _check_steps(part)
        sizes = _common_sizes(part, vars(part))
        if shapes is not None and not vars(part).keys().isdisjoint(shapes):
            sizes = Looker(part, shapes).look(vars(part), shapes, sizes)
            _check_outputs(part, vars(part), sizes)


def _check_steps(model: Any) -> None:
    """Refuse a pipeline or the like whose steps are no names and estimators."""
    if getattr(model, "standardize", False) and "lambdas_" in vars(model) and not hasattr(model, "_scaler"):
        refuse(model, "_scaler is missing")
    for name, length in (("steps", 2), ("transformer_list", 2), ("transformers", 3), ("transformers_", 3)):
        steps = getattr(model, name, None)
        sound = isinstance(steps, list) and all(isinstance(s, tuple) and len(s) == length for s in steps)
        if steps is not None and not (sound and all(isinstance(s[0], str) and _is_step(s[1]) for s in steps)):
            refuse(model, f"{name} is {steps!r:.60}")


def _is_step(step: Any) -> bool:
    return step in (None, "passthrough", "drop") or isinstance(step, BaseEstimator)


def _common_sizes(model: Any, state: Mapping[str, Any]) -> Sizes:
    """Return the numbers of rows and features that a model was fitted on, as far as it says them."""
    sizes: Sizes = {}
    shape = state.get("shape_fit_")
    if shape is not None:
        sound = isinstance(shape, tuple) and 1 <= len(shape) <= 2
        if not sound or not all(type(s) is int and s >= 1 for s in shape):
            refuse(model, f"shape_fit_ is {shape!r:.40}")
        sizes["n"] = shape[0]
    features = state.get("n_features_in_")
    if features is not None:
        if type(features) not in (int, np.int64) or features < 1:
            refuse(model, f"n_features_in_ is {features!r:.40}")
        sizes["d"] = int(features)
    names = state.get("feature_names_in_")
    if names is not None and (features is None or np.shape(names) != (features,)):
        refuse(model, f"{np.shape(names)} names for {features} features")
    return sizes


class Looker:
    """Looks at the fitted attributes of one estimator.

    Parameters
    ----------
    model : estimator
        For messages, and for its kernel.
    shapes : dict
        The estimator's table.
    """

    def __init__(self, model: Any, shapes: Shapes) -> None:
        self.model = model
        kernels = (vars(model).get(name) for name in shapes if shapes[name].startswith("kernel"))
        self.pairwise = any(isinstance(k, Kernel) and k.pairwise for k in kernels)
        self._kinds: dict[str, Callable[[Any, Shape, Sizes], bool]] = {
            "float": self._float, "number": self._number, "int": self._int, "points": self._points,
            "labels": self._labels, "array": self._any_array, "kernel": self._kernel, "list": self._list,
            "record": self._record,
        }  # fmt: skip

    def look(self, state: Mapping[str, Any], shapes: Shapes, sizes: Sizes) -> Sizes:
        """Return the lengths that the attributes agree on, or refuse them."""
        for name, text in shapes.items():
            alternatives, needed = parsed(text)
            if name not in state:
                if needed:
                    refuse(self.model, f"{name} is missing")
                continue
            for shape in alternatives:
                found = dict(sizes)
                if self._fits(state[name], shape, found):
                    sizes = found
                    break
            else:
                refuse(self.model, f"{name} is {_shown(state[name])}, not {_wanted(text, sizes)}")
        return sizes

    def _fits(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        check = self._kinds.get(shape.kind)
        return check(value, shape, sizes) if check else SIMPLE[shape.kind](value)

    def _array(self, value: Any, shape: Shape, sizes: Sizes, kinds: str) -> Any:
        """Return a value as an array of wished type and lengths, None if it is none."""
        if shape.lengths is None:
            scalar = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            array = np.asarray(value) if scalar else None
        else:
            array = value.toarray() if is_sparse(value) else value
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.dtype.itemsize < 4:
            return None
        return array if _agree(array.shape, shape.lengths or (), sizes) else None

    def _float(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        array = self._array(value, shape, sizes, "f" if shape.lengths is not None else "fiu")
        return array is not None and bool(np.isfinite(array).all())

    def _number(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        return self._array(value, shape, sizes, "fiu") is not None

    def _int(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        array = self._array(value, shape, sizes, "iu")
        if array is None or (array < 0).any():
            return False
        return shape.below is None or not array.size or int(array.max()) < sizes.get(shape.below, np.inf)

    def _points(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        if self.pairwise:  # rows of a matrix that the user has: there may be nothing, or numbers of rows
            return value is None or isinstance(value, np.ndarray) or is_sparse(value)
        assert shape.lengths is not None
        if isinstance(value, MixedColumns):
            return _agree(value.shape, shape.lengths, sizes)
        ready = isinstance(value, np.ndarray) or is_sparse(value)
        if ready and value.dtype.kind in "biuf":
            numbers = value.data if is_sparse(value) else value
            return _agree(value.shape, shape.lengths, sizes) and bool(np.isfinite(numbers).all())
        if not ready and not isinstance(value, list | tuple):
            return False
        return _agree((value.shape[0] if ready and value.ndim else len(value),), shape.lengths[:1], sizes)

    def _labels(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        sound = isinstance(value, np.ndarray) and _agree(value.shape, shape.lengths or (), sizes)
        return sound and len(set(value.tolist())) == value.size >= 2

    def _any_array(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        return isinstance(value, np.ndarray) and _agree(value.shape, shape.lengths or (), sizes)

    def _kernel(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        if is_known_sklearn_kernel(value):
            return bool(np.isfinite(value.theta).all())
        if not isinstance(value, Kernel):
            return False
        if shape.lengths:  # a second view has its own number of features
            known = sizes.get(shape.lengths[0])
            sizes = {name: size for name, size in sizes.items() if name != "d"}
            sizes |= {} if known is None else {"d": known}
        if isinstance(value, OnColumns):  # what is inside sees some of the features
            sizes = {name: size for name, size in sizes.items() if name != "d"}
        inside = [v for v in vars(value).values() if isinstance(v, Kernel)]
        if address(type(value)) in RECORDS:
            self.look(vars(value), RECORDS[f"{address(type(value))}"], dict(sizes))
        return value.is_resolved and all(self._kernel(kernel, shape, sizes) for kernel in inside)

    def _list(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        if not isinstance(value, list | tuple) or not _agree((len(value),), shape.lengths or (), sizes):
            return False
        (inner,), _ = parsed(shape.inner)
        return all(self._fits(item, inner, dict(sizes)) for item in value)

    def _record(self, value: Any, shape: Shape, sizes: Sizes) -> bool:
        if (address(type(value)) or plain_address(value)) != shape.inner:
            return False
        state = value._asdict() if hasattr(value, "_asdict") else vars(value)
        self.look(state, RECORDS[shape.inner], dict(sizes))
        return True


SIMPLE: dict[str, Callable[[Any], bool]] = {
    "flag": lambda value: isinstance(value, bool | np.bool_),
    "word": lambda value: isinstance(value, str),
    "dtype": lambda value: isinstance(value, np.dtype),
    "none": lambda value: value is None,
    "any": lambda value: True,
    "value": lambda value: isinstance(value, Value),
    "estimator": lambda value: (
        isinstance(value, BaseEstimator)  # a pipeline has nothing of its own; its steps are looked at
        and (hasattr(value, "steps") or len(vars(value)) > len(value.get_params(False)))
    ),
}


def _agree(found: tuple[int, ...], wished: tuple[str, ...], sizes: Sizes) -> bool:
    """Return whether lengths are those wished for, and remember those that had no value yet."""
    if len(found) != len(wished):
        return False
    for length, name in zip(found, wished, strict=True):
        symbol, _, more = name.partition("+")
        if symbol != ANY:
            known = int(symbol) if symbol.isdigit() else sizes.setdefault(symbol, length - int(more or 0))
            if known + int(more or 0) != length:
                return False
    return True


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) or is_sparse(value):
        return f"an array of {value.dtype} of shape {value.shape}"
    return f"{value!r:.40}"


def _wanted(text: str, sizes: Sizes) -> str:
    known = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    return f"{text.removesuffix('!').strip()}" + (f" with {known}" if known else "")


def _check_outputs(model: Any, state: Mapping[str, Any], sizes: Sizes) -> None:
    """Refuse machines whose number does not fit that of the classes or outputs."""
    k = sizes.get("k", 0)
    if ("link_knots_" in state) != ("link_slopes_" in state):
        refuse(model, "link_knots_ and link_slopes_ belong together")
    if "feature_map_" in state:
        process = "_y_mean" in state
        wanted = _machines(model, k) if k else sizes["o"] if process else sizes["u"]
        if sizes["u"] != wanted or np.size(state.get("intercept_", np.zeros(wanted))) != sizes["u"]:
            refuse(model, f"feature_weights_ has {sizes['u']} rows for {wanted} functions")
        width = state["feature_weights_"].shape[1]
        if process and state["_posterior"].triangle.shape[0] != width:
            refuse(model, f"the posterior is not that of {width} features")
        return
    if "_n_support" in state and "thresholds_" not in state:
        _check_pairs(model, state["_n_support"], sizes)
    elif "q" in sizes and sizes["q"] != sizes["r"]:
        refuse(model, f"dual_coef_ has {sizes['r']} rows for {sizes['q']} intercepts")
    elif k and "r" in sizes and sizes["r"] != k and (sizes["r"], k) != (1, 2):
        refuse(model, f"{sizes['r']} rows of coefficients for {k} classes")
    if "_flat" in state and "X_fit_" in state:
        flat = state["dual_coef_"].ndim == 1
        bias = state.get("intercept_", 0.0)
        if bool(state["_flat"]) != flat or np.ndim(bias) > 1 or (flat and np.size(bias) != 1):
            refuse(model, "dual_coef_, intercept_ and the number of outputs contradict each other")
        outputs = 1 if flat else sizes["o"]
        if outputs != sizes.get("o", 1) or (k and outputs != k and (outputs, k) != (1, 2)):
            refuse(model, f"dual_coef_ has {outputs} outputs for {k or sizes.get('o')}")


def _check_pairs(model: Any, counts: np.ndarray, sizes: Sizes) -> None:
    k, m = sizes["k"], sizes["m"]
    if int(counts.sum()) != m:
        refuse(model, f"the numbers of support vectors {counts.tolist()!r:.60} do not sum to {m}")
    machines = _machines(model, k)
    rows = 1 if k == 2 else k if getattr(model, "multiclass", "ovo") != "ovo" else k - 1
    if getattr(model, "_joint", False):  # one function for each class, of two classes too
        rows = machines = k
    if sizes["r"] != rows or sizes["q"] != machines:
        refuse(model, f"dual_coef_ has {sizes['r']} rows and intercept_ {sizes['q']} entries for {k} classes")


def _machines(model: Any, k: int) -> int:
    """Return how many two-class machines stand for k classes."""
    pairs = getattr(model, "multiclass", "ovo") == "ovo"
    return 1 if k == 2 else k * (k - 1) // 2 if pairs else k
