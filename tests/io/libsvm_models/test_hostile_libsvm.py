"""Damaged and wrong models of LIBSVM: refused, or read as something that makes sense."""

import numpy as np
import pytest
from hostile_samples import LIBSVM, damaged, watching

from mercer.io import (
    ModelFileError,
    read_libsvm_model,
)
from mercer.io.libsvm.model_text import parse_libsvm_model

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(25))
def test_damaged_libsvm_models_are_refused_or_make_sense(seed, guarded):
    try:
        stored = parse_libsvm_model(damaged(LIBSVM, seed))
    except ModelFileError:
        return
    assert np.isfinite(stored.coef).all()  # a changed digit cannot be told from another model
    assert stored.coef.shape[1] == stored.vectors.shape[0] == stored.n_support.sum()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"c_svc", b"evil", "svm_type"),
        (b"kernel_type rbf", b"kernel_type evil", "kernel_type"),
        (b"nr_class 3", b"nr_class 300000000", "are inconsistent"),
        (b"nr_class 3", b"nr_class 4", "instead of"),
        (b"total_sv ", b"total_sv 9", "total_sv"),
        (b"gamma ", b"gamma nan ", "finite"),
        (b"gamma ", b"gamma -", "gamma"),
        (b"label 0 1 2", b"label 0 1 1", "twice"),
        (b"label 0 1 2", b"label 0 1 x", "must be numbers"),
        (b"nr_sv ", b"nr_sv -1 ", "instead of"),
        (b"SV\n", b"SW\n", "not an entry"),
        (b"rho", b"rh\xf4", "not an entry"),
        (b"SV\n", b"SV\nnan nan 1:1\n", "support vectors"),
        (b"svm_type", b"svm_type c_svc\nsvm_type", "twice"),
    ],
)
def test_wrong_libsvm_models_are_refused(old, new, message, tmp_path, guarded):
    watching[0] = False
    (tmp_path / "given").write_bytes(LIBSVM.replace(old, new, 1))
    watching[0] = True
    with pytest.raises(ModelFileError, match=message):
        read_libsvm_model(tmp_path / "given")
