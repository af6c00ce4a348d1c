"""``from_sklearn``: their estimators and pipelines with our classes."""

import inspect

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from clouds import blobs
from mercer.io.sklearn_counterparts import COUNTERPARTS, our_class, their_class

X, y = blobs(60, 3, 2, seed=0)


@pytest.mark.parametrize("name", [name for name in COUNTERPARTS if our_class(name) is not None])
def test_every_class_comes_over_with_its_parameters(name):
    cls = their_class(name)
    made = mercer.from_sklearn(cls())
    assert type(made) is getattr(mercer, name)
    given = cls().get_params(deep=False)
    for key, value in made.get_params(deep=False).items():
        if key in given and given[key] != "deprecated":
            assert value is given[key] or value == given[key], key
    clone(made)


def test_positional_parameters_are_those_of_scikit_learn():
    for name in COUNTERPARTS:
        if our_class(name) is None:
            continue
        ours, theirs = (inspect.signature(cls).parameters for cls in (our_class(name), their_class(name)))
        positional = [p for p in theirs if theirs[p].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert list(ours)[: len(positional)] == positional, name


@pytest.mark.parametrize("name", [name for name in COUNTERPARTS if our_class(name) is not None])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_scikit_learns_class_keeps_ours_keeps_too(name):
    theirs, ours = their_class(name)().fit(X, y), our_class(name)().fit(X, y)
    names = [key for key in vars(theirs) if key.endswith("_") and not key.startswith("_")]
    assert len(names) >= 3
    for key in names:
        there, here = getattr(theirs, key), getattr(ours, key)
        assert np.ndim(here) == np.ndim(there), key
        if not key.startswith(("support", "dual_coef")):  # a point at the margin may count here or there
            assert np.shape(here) == np.shape(there), key


def test_a_fitted_pipeline_stays_fitted():
    theirs = make_pipeline(StandardScaler(), sklearn.svm.SVC(C=3.0)).fit(X, y)
    ours = mercer.from_sklearn(theirs)
    assert isinstance(ours[-1], mercer.SVC)
    assert isinstance(theirs[-1], sklearn.svm.SVC)  # the given one is left alone
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_searches_and_nested_estimators():
    search = GridSearchCV(make_pipeline(KernelPCA(2), sklearn.svm.SVC()), {"svc__C": [1.0, 2.0]}, cv=2)
    ours = mercer.from_sklearn(search)
    assert isinstance(ours.estimator[0], mercer.KernelPCA)
    assert ours.fit(X, y).best_estimator_[-1].certificate_.status == "optimal"


def test_what_has_to_be_fitted_again_says_so():
    with pytest.warns(UserWarning, match="KernelPCA is fitted there and has to be fitted again here"):
        made = mercer.from_sklearn(KernelPCA(2, kernel="rbf").fit(X))
    assert made.get_params()["kernel"] == "rbf"


def test_the_perceptron_keeps_its_bias_step():
    params = {"max_iter": 1, "shuffle": False, "tol": None}
    theirs = sklearn.linear_model.Perceptron(**params)
    made = mercer.from_sklearn(theirs)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        made.fit(X, y)
    np.testing.assert_allclose(made.intercept_, theirs.fit(X, y).intercept_)


def test_what_stands_in_the_way_is_named():
    with pytest.raises(ValueError, match="class_weight='balanced' is a parameter that"):
        mercer.from_sklearn(sklearn.linear_model.Perceptron(class_weight="balanced"))
    with pytest.raises(ValueError, match="penalty='l2' is not Rosenblatt's rule"):
        mercer.from_sklearn(sklearn.linear_model.Perceptron(penalty="l2"))
    with pytest.raises(ValueError, match="nothing in it has a class of the same name here"):
        mercer.from_sklearn(RandomForestClassifier())
    with pytest.raises(TypeError, match="takes an estimator"):
        mercer.from_sklearn(sklearn.svm.SVC)
