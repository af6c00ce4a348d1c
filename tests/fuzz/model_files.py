"""Model files, sound and damaged: the same model, or a refusal; never one that fails later."""

import functools
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer

from .damage import STEPS, damaged
from .report import Report
from .watching import Refused, watched

METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
MODELS = {
    "SVC": lambda: mercer.SVC(probability=True),
    "linear SVC": lambda: mercer.SVC(kernel="linear", multiclass="ovr"),
    "NuSVC": lambda: mercer.NuSVC(nu=0.3),
    "SVR": lambda: mercer.SVR(),
    "NuSVR": lambda: mercer.NuSVR(kernel=mercer.kernels.RBF(0.5) + mercer.kernels.Linear()),
    "OneClassSVM": lambda: mercer.OneClassSVM(nu=0.2),
    "SVDD": lambda: mercer.SVDD(),
    "SphereAndSlab": lambda: mercer.SphereAndSlab(),
    "KernelClassifier": lambda: mercer.KernelClassifier(),
    "KernelLogisticRegression": lambda: mercer.KernelLogisticRegression(),
    "KernelRegressor": lambda: mercer.KernelRegressor(),
    "KernelRidge": lambda: mercer.KernelRidge(kernel="rbf", gamma=0.5),
    "GaussianProcessRegressor": lambda: mercer.GaussianProcessRegressor(kernel=mercer.kernels.RBF(0.5)),
    "KernelPCA": lambda: mercer.KernelPCA(kernel="rbf", n_components=3),
    "KernelFisherDiscriminant": lambda: mercer.KernelFisherDiscriminant(),
    "KernelPerceptron": lambda: mercer.KernelPerceptron(),
    "LinearDiscriminantAnalysis": lambda: mercer.LinearDiscriminantAnalysis(),
    "QuadraticDiscriminantAnalysis": lambda: mercer.QuadraticDiscriminantAnalysis(),
    "MixtureDiscriminantAnalysis": lambda: mercer.MixtureDiscriminantAnalysis(n_subclasses=2, random_state=0),
    "SVCPath": lambda: mercer.SVCPath(),
    "pipeline": lambda: make_pipeline(StandardScaler(), mercer.SVC()),
}
LIBSVM = {"SVC", "linear SVC", "NuSVC", "SVR", "OneClassSVM"}
VALUES = (None, -1, 0, 1, 10**9, 2.5, 1e308, "x", "", (), True, "delete")


@functools.cache
def fitted(name):
    """Return a small model and points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=24), [-0.5, 0.5])
    if "linear" in name:  # one machine for each class has no file in LIBSVM's format
        y = (y > 0).astype(int)
    return MODELS[name]().fit(X, y), X


@functools.cache
def content(name):
    from mercer.io import dumps

    return dumps(fitted(name)[0])


@functools.cache
def libsvm_content(name):
    from mercer.io import write_libsvm_model

    with tempfile.TemporaryDirectory() as folder:
        return write_libsvm_model(fitted(name)[0], Path(folder) / "m").read_bytes()


@dataclass(frozen=True)
class ModelFile:
    """A model's file with damage: to its bytes, or to what it says, with the digest made to fit."""

    model: str
    kind: str  # "bytes", "description", "tensor" or "libsvm"
    steps: tuple = ()
    where: float = 0.0
    value: object = None

    @property
    def place(self):
        return f"{self.kind} of {self.model}"

    def snippet(self):
        return f"from fuzz.model_files import ModelFile\nprint({self!r}.run().failures)"

    def made(self):
        if self.kind == "libsvm":
            return damaged(libsvm_content(self.model), self.steps)
        if self.kind == "bytes":
            return damaged(content(self.model), self.steps)
        from mercer.io.model.safetensors_file import pack, unpack

        description, tensors = unpack(content(self.model))
        if self.kind == "description":
            description = _changed(json.loads(json.dumps(description)), self.where, self.value)
        else:
            tensors = _changed_tensor(tensors, self.where, self.value)
        return pack(description, tensors)

    def run(self):
        report = Report(fits=1)
        start = time.process_time()
        try:
            self._load(report)
        except Refused as refusal:
            report.ending, report.refusal = "refused", str(refusal)
            if not refusal.told and self.kind in ("bytes", "libsvm") and not self.steps:
                report.fail("a sound model is read", self.place, refusal)
        report.seconds = time.process_time() - start
        return report

    def _load(self, report):
        from mercer.io import libsvm_predict, read_libsvm_model

        made = self.made()
        X = fitted(self.model)[1]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.mercer"
            path.write_bytes(made)
            with watched(report, "load"):
                model = read_libsvm_model(path, n_features=3) if self.kind == "libsvm" else mercer.load(path)
        report.ending = "loaded"
        with watched(report, "repr of what was loaded"):
            repr(model)
        for method in METHODS:
            with watched(report, "what was loaded works"):
                if not hasattr(model, method):
                    continue
                answer = np.asarray(getattr(model, method)(X))
            if len(answer) != len(X):
                report.fail(
                    "what was loaded works", self.place, f"{method} gives {answer.shape} for {len(X)} rows"
                )
        if self.kind == "libsvm":
            with watched(report, "what was loaded works"):
                libsvm_predict(model, X)


def _places(value, path=()):
    """Yield the paths of all values of a JSON document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from _places(part, (*path, key))


def _changed(document, where, value):
    places = [p for p in _places(document) if p[0] != "protocol"]
    *way, last = places[int(where * len(places))]
    home = document
    for key in way:
        home = home[key]
    if value == "delete":
        del home[last]
    else:
        home[last] = list(value) if isinstance(value, tuple) else value
    return document


def _changed_tensor(tensors, where, value):
    names = sorted(tensors)
    if not names:
        return tensors
    name = names[int(where * len(names))]
    array = tensors[name]
    out = dict(tensors)
    if value == "delete":
        del out[name]
    elif value in (None, ""):
        out[name] = array.ravel()
    elif value == "x":
        out[name] = array[..., :-1] if array.ndim and array.shape[-1] else array[None]
    elif value == ():
        out[name] = array[:0] if array.ndim else array[None]
    elif value is True:
        out[name] = array.astype(np.float32 if array.dtype != np.float32 else np.float64)
    elif array.size:
        changed = array.copy()
        with np.errstate(all="ignore"):
            changed.flat[0] = (
                np.array(value).astype(array.dtype) if abs(value) < 1e9 else np.array(100).astype(array.dtype)
            )
        out[name] = changed
    return {key: np.ascontiguousarray(value) for key, value in out.items()}


@st.composite
def model_files(draw):
    kind = draw(st.sampled_from(["bytes", "description", "tensor", "libsvm"]))
    name = draw(st.sampled_from(sorted(LIBSVM) if kind == "libsvm" else sorted(MODELS)))
    if kind in ("bytes", "libsvm"):
        return ModelFile(name, kind, steps=tuple(draw(STEPS)))
    where = draw(st.integers(0, 10_000)) / 10_001
    return ModelFile(name, kind, where=where, value=draw(st.sampled_from(VALUES)))
