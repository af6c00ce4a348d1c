"""Model files changed by somebody who computes the digest anew, and how a model that loads must behave."""

import copy
import re
import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp
from file_samples import data, estimators, fitted
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PowerTransformer, RobustScaler, StandardScaler

import mercer
from mercer.io import dumps, loads
from mercer.io.model.safetensors_file import pack, unpack
from mercer.kernels import RBF, Linear, Polynomial

METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "score_samples",
    "inverse_transform",
)
# How NumPy and SciPy complain about arrays that do not fit together: not in our words.
STRANGE = re.compile(
    r"broadcast|not aligned|matmul|cannot reshape|dimension mismatch|inhomogeneous|size-1 arrays|ambiguous"
    r"|setting an array element|out of bounds|incompatible dimensions|same number of dimensions|zero-size"
    r"|must match exactly|unpack|could not convert|inconsistent shapes|must be a (?:real|str)"
)


@cache
def variants():
    """Return models beside the plainest of each class, by their names, with points to ask them about."""
    X, targets = data(n=50)
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    K = X @ X.T
    two, three, real = targets["two"], targets["three"], targets["real"]
    several = np.column_stack([real, X[:, 0]])
    made = {
        "probability": (mercer.SVC(probability=True).fit(X, three), X),
        "one against the rest": (mercer.SVC(multiclass="ovr", probability=True).fit(X, three), X),
        "two classes": (mercer.NuSVC(kernel=RBF(0.5) + 2 * Linear()).fit(X, two), X),
        "sparse": (mercer.SVC().fit(sp.csr_matrix(thin), two), sp.csr_matrix(thin)),
        "precomputed": (mercer.SVC(kernel="precomputed").fit(K, three), K),
        "some columns": (mercer.SVR(kernel=Polynomial(degree=2).normalized().on([0, 2])).fit(X, real), X),
        "centred kernel": (mercer.SVR(kernel=RBF(0.5).centered()).fit(X, real), X),
        "several outputs": (mercer.KernelRidge(kernel="rbf").fit(X, several), X),
        "several processes": (mercer.GaussianProcessRegressor(optimizer=None).fit(X, several), X),
        "a process of ours": (
            mercer.GaussianProcessRegressor(1.0 * RBF(0.5), noise=0.1, optimizer=None).fit(X, real),
            X,
        ),
        "three latent processes": (mercer.GaussianProcessClassifier(RBF(0.5)).fit(X, three), X),
        "pre-images": (
            mercer.KernelPCA(2, kernel="poly", fit_inverse_transform=True, preimages="direct").fit(X),
            X,
        ),
        "covariances": (mercer.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, three), X),
        "two discriminated": (mercer.LinearDiscriminantAnalysis().fit(X, two), X),
        "two ridges": (mercer.KernelRidgeClassifier().fit(X, two), X),
        "two online": (mercer.KernelPerceptron().fit(X, two), X),
        "text labels": (mercer.SVC().fit(X, np.array(["a", "b", "c"])[three]), X),
        "preparation": (
            make_pipeline(
                SimpleImputer(add_indicator=True), RobustScaler(), PowerTransformer(), PCA(2), mercer.SVR()
            ).fit(np.where(X > 1.5, np.nan, X), real),
            X,
        ),
        "categories": (make_pipeline(OneHotEncoder(), mercer.SVC()).fit(np.rint(X), three), np.rint(X)),
        "pipeline": (make_pipeline(StandardScaler(), MinMaxScaler(), mercer.SVC()).fit(X, three), X),
    }
    return {name: (dumps(model), points) for name, (model, points) in made.items()}


@cache
def stored(name):
    """Return the bytes of a model file and points to ask the model about."""
    if name in variants():
        return variants()[name]
    model, X = fitted(getattr(mercer, name))
    return dumps(model), X


def names():
    return [cls.__name__ for cls in estimators()] + list(variants())


def _nodes(node, path=()):
    """Yield the places in a description: keys that lead there."""
    if path:
        yield path
    if isinstance(node, dict):
        for key in sorted(node):
            if key != "kind":
                yield from _nodes(node[key], (*path, key))
    elif isinstance(node, list):
        for k in range(len(node)):
            yield from _nodes(node[k], (*path, k))


def _at(node, path):
    for key in path:
        node = node[key]
    return node


ARRAYS = {
    "shorter": lambda a, rng: a[:-1] if a.ndim else a,
    "longer": lambda a, rng: np.concatenate([a, a[:1]]) if a.ndim else np.stack([a, a]),
    "narrower": lambda a, rng: a[..., :-1] if a.ndim else a,
    "wider": lambda a, rng: np.concatenate([a, a[..., :1]], axis=-1) if a.ndim and a.size else a,
    "empty": lambda a, rng: a[:0] if a.ndim else a,
    "flat": lambda a, rng: a.ravel(),
    "transposed": lambda a, rng: a.T,
    "deeper": lambda a, rng: a[None],
    "scalar": lambda a, rng: a.ravel()[0] if a.size else a,
    "whole numbers": lambda a, rng: a.astype(np.int64),
    "floats": lambda a, rng: a.astype(np.float64),
    "half floats": lambda a, rng: a.astype(np.float16),
    "truths": lambda a, rng: a.astype(bool),
    "nan": lambda a, rng: _one(a.astype(np.float64), rng, np.nan),
    "infinite": lambda a, rng: _one(a.astype(np.float64), rng, np.inf),
    "negative": lambda a, rng: _one(a, rng, -1) if a.dtype.kind != "u" else a,
    "huge": lambda a, rng: _one(a, rng, 100_000) if a.dtype.itemsize > 2 else a,
    "zeros": lambda a, rng: np.zeros_like(a),
}
VALUES = (None, True, False, 0, -1, 1, 3, 10**9, 0.5, -2.5, "", "x", [], [1], [[0.5]],
          {"kind": "float", "value": "nan"}, {"kind": "float", "value": "inf"},
          {"kind": "tuple", "items": []}, {"kind": "tuple", "items": [1, 2]},
          {"kind": "dict", "items": []})  # fmt: skip


def _one(a, rng, value):
    out = np.array(a)
    if out.size:
        out.reshape(-1)[int(rng.integers(out.size))] = value
    return out


def mutated(content, rng):
    """Return a file in which one thing was changed, and what."""
    description, tensors = unpack(content)
    description, tensors = copy.deepcopy(description), dict(tensors)
    model = description["model"]
    places = list(_nodes(model))
    kind = int(rng.integers(4))
    if kind == 0 and tensors:
        name = sorted(tensors)[int(rng.integers(len(tensors)))]
        change = sorted(ARRAYS)[int(rng.integers(len(ARRAYS)))]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            tensors[name] = np.ascontiguousarray(ARRAYS[change](tensors[name], rng))
        where = [p for p in places if p[-1] == "tensor" and _at(model, p) == name]
        what = f"{where[0][:-1]} {change}"
    else:
        path = places[int(rng.integers(len(places)))]
        parent = _at(model, path[:-1])
        if kind == 1:
            value = VALUES[int(rng.integers(len(VALUES)))]
            parent[path[-1]] = copy.deepcopy(value)
            what = f"{path} = {value!r}"
        elif kind == 2:
            other = places[int(rng.integers(len(places)))]
            parent[path[-1]] = copy.deepcopy(_at(model, other))
            what = f"{path} = what is at {other}"
        else:
            del parent[path[-1]]
            what = f"{path} removed"
    return _sealed(description, tensors), what


def _sealed(description, tensors):
    """Return a file whose digest holds; arrays that nothing names any more are left out."""
    text = repr(description["model"]) + repr(description["training"]) + repr(description["summary"])
    return pack(description, {name: t for name, t in tensors.items() if f"'tensor': '{name}'" in text})


def complaint(content, X):
    """Return in what strange words a file that loads fails later; None if all is well."""
    try:
        model = loads(content).model
    except ValueError as error:
        return None if type(error).__name__ == "ModelFileError" else f"load: {error!r}"
    for name in METHODS:
        try:
            method = getattr(model, name, None)
            if method is None:
                continue
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                points = X if name != "inverse_transform" else model.transform(X)
                method(points)
        except ValueError as error:
            if STRANGE.search(str(error)):
                return f"{name}: {error!r}"
        except (ArithmeticError, MemoryError) as error:
            if not str(error):
                return f"{name}: {error!r}"
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is what the test looks for
            return f"{name}: {error!r}"
    return None
