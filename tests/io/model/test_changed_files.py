"""Files that somebody changed and sealed again: refused, or models that work or refuse in words."""

import numpy as np
import pytest
from file_samples import estimators, fitted
from mutations import complaint, mutated, names, stored
from sklearn.base import clone

import mercer
from mercer.io import ModelFileError, dumps, loads
from mercer.io.model.allowlist import address, plain_address
from mercer.io.model.fitted_shapes import ESTIMATORS
from mercer.io.model.fitted_state import parsed
from mercer.io.model.record_shapes import RECORDS
from mercer.io.model.safetensors_file import pack, unpack
from mercer.io.model.sklearn_shapes import SKLEARN_SHAPES
from mercer.kernels import RBF

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
CHANGES = 8  # of each file; those of searches are large, and hold what others hold


@pytest.mark.parametrize("name", names())
def test_a_changed_file_is_refused_or_its_model_works(name):
    content, X = stored(name)
    assert complaint(content, X) is None
    for seed in range(CHANGES if "Search" not in name else 2):
        changed, what = mutated(content, np.random.default_rng([seed, *name.encode()]))
        assert complaint(changed, X) is None, f"seed {seed}: {what}"


def test_the_harness_sees_what_it_looks_for(monkeypatch):
    """Without the look at fitted attributes, a column too many is an error of NumPy's."""
    content, X = stored("KernelFisherDiscriminant")
    description, tensors = unpack(content)
    tensor = description["model"]["state"]["dual_coef_"]["tensor"]
    changed = pack(description, {**tensors, tensor: np.repeat(tensors[tensor], 2, axis=1)})
    assert complaint(changed, X) is None
    monkeypatch.setattr("mercer.io.model.fitted_state.check", lambda model: None)
    assert "broadcast" in complaint(changed, X)


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_every_fitted_attribute_of_every_estimator_is_looked_at(cls):
    model, _ = fitted(cls)
    shapes = ESTIMATORS[cls.__name__]
    skipped = {*model.get_params(deep=False), "n_features_in_", "shape_fit_", "_sklearn_version"}
    assert set(model.__getstate__()) - skipped - set(shapes) == set()
    for text in [*shapes.values()]:
        assert parsed(text)


def test_every_entry_of_the_tables_is_understood():
    for table in (ESTIMATORS, RECORDS, SKLEARN_SHAPES):
        for shapes in table.values():
            for text in shapes.values():
                for shape in parsed(text)[0]:
                    assert shape.kind != "record" or shape.inner in RECORDS
    steps = {"DateFeatures"}  # made by mercer.prepare, not by users
    assert set(ESTIMATORS) == {cls.__name__ for cls in estimators()} | steps


def test_what_estimators_keep_is_looked_at_field_by_field(monkeypatch):
    seen = set()

    def visit(value, depth=0):
        for name in (address(type(value)), plain_address(value)):
            if name in RECORDS:
                state = value._asdict() if hasattr(value, "_asdict") else vars(value)
                assert name.startswith("mercer.kernels:") or set(state) == set(RECORDS[name])
                seen.add(name)
        if depth < 4:
            inside = vars(value).values() if hasattr(value, "__dict__") else ()
            for item in (*inside, *(value if isinstance(value, list | tuple) else ())):
                visit(item, depth + 1)

    for cls in estimators():
        visit(fitted(cls)[0])
    X = fitted(mercer.SVC)[1]
    visit(mercer.KernelPCA(2, kernel="poly", fit_inverse_transform=True, preimages="direct").fit(X))
    for kernel in (RBF(0.5).centered(), RBF(0.5).clipped(), RBF(0.5).flipped()):
        visit(mercer.SVR(kernel=kernel).fit(X, X[:, 0]))
    visit(mercer.SVR(approximation="nystroem", n_components=5).fit(X, X[:, 0]))
    visit(mercer.StructuredSVM(mercer.structured.Chain()).fit([X[:3], X[3:5]], [[0, 1, 0], [1, 1]]))
    process = mercer.GaussianProcessRegressor(kernel=RBF(0.5), noise=0.1, optimizer=None)
    visit(process.fit(X, X[:, 0]))
    visit(clone(process).set_params(parametric="linear").fit(X, X[:, 1] ** 2))
    visit(clone(process).set_params(approximation="nystroem", n_components=5).fit(X, X[:, 0]))
    monkeypatch.setattr("mercer.estimators.gaussian._regression.PACKED", 10)
    visit(process.fit(X, X[:, 0]))
    assert seen == set(RECORDS)


@pytest.mark.parametrize(
    ("cls", "name", "change", "message"),
    [
        (
            mercer.KernelRidge,
            "dual_coef_",
            lambda a: a[:-1],
            r"dual_coef_ is an array .* \(59,\)",
        ),
        (mercer.MixtureDiscriminantAnalysis, "subclass_owner_", lambda a: a + 3, "subclass_owner_"),
        (mercer.KernelPCA, "_coef", lambda a: a * np.nan, "_coef"),
        (mercer.SVC, "support_", lambda a: a + 60, "support_ .* < n"),
        (mercer.GaussianProcessRegressor, "_y_std", lambda a: a[:0], "_y_std"),
    ],
)
def test_a_refusal_names_the_attribute(cls, name, change, message):
    description, tensors = unpack(dumps(fitted(cls)[0]))
    tensor = description["model"]["state"][name]["tensor"]
    with pytest.raises(ModelFileError, match=message):
        loads(pack(description, {**tensors, tensor: change(tensors[tensor]).copy()}))
