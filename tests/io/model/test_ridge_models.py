"""A ridge machine whose penalty was chosen by leaving one out is saved with all that was looked at."""

import numpy as np
import pytest

import mercer


@pytest.mark.core
@pytest.mark.parametrize("outputs", [(), (2,)])
def test_errors_of_one_output_and_of_several(tmp_path, outputs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=(20, *outputs))
    model = mercer.KernelRidge(kernel="rbf", alpha="loo").fit(X, y)
    again = mercer.load(mercer.save(model, tmp_path / "m.mercer"))
    np.testing.assert_array_equal(again.loo_errors_, model.loo_errors_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
