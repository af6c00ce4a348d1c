"""Kernels from functions: of two sets of items, and of two items."""

import functools
import math
import pickle
import subprocess
import sys
import textwrap

import joblib
import kernel_examples
import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import data_for, shared_letters, smooth, through_python
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import mercer
from mercer.kernels import RBF, FromFunction, ItemKernel, Linear, kernel

pytestmark = pytest.mark.core

X = data_for("real")


def test_matrix_functions():
    k = FromFunction(rbf_kernel)
    np.testing.assert_array_equal(k(X), rbf_kernel(X))
    np.testing.assert_array_equal(k(sp.csr_matrix(X), sp.csr_matrix(X[:3])).shape, (12, 3))
    assert repr(k) == "FromFunction(function=rbf_kernel)"
    assert k.is_psd is None
    lists = FromFunction(lambda A, B: [[len(a) * len(b) for b in B] for a in A])
    np.testing.assert_array_equal(lists(["a", "bc"]), [[1, 2], [2, 4]])
    np.testing.assert_array_equal(lists.diag(["a", "bc"] * 40), [1, 4] * 40)
    sparse = FromFunction(lambda A, B: sp.csr_matrix(A @ B.T))
    np.testing.assert_allclose(sparse(X), X @ X.T)


def wrong_shape(A, B):
    return np.ones((2, 2))


def test_matrix_functions_that_return_something_else():
    with pytest.raises(ValueError, match=r"wrong_shape returned an array of shape \(2, 2\).*\(12, 12\)"):
        FromFunction(wrong_shape)(X)
    with pytest.raises(ValueError, match=r"returned values of type .*real numbers"):
        FromFunction(lambda A, B: np.full((len(A), len(B)), "x"))(X)


def test_the_decorator():
    assert mercer.kernel is kernel
    assert isinstance(shared_letters, ItemKernel)
    assert shared_letters.function("ab", "bc") == 1
    assert shared_letters.is_psd is True
    assert through_python.is_psd is None
    assert clone(smooth) == smooth

    @kernel(symmetric=False)
    def lopsided(a, b):
        """How lopsided."""
        return len(a)

    np.testing.assert_array_equal(lopsided(["a", "bc"]), [[1, 1], [2, 2]])
    assert lopsided.__doc__ == "How lopsided."


def test_compiled_where_it_can_be():
    @kernel
    def product(x, z):
        return np.dot(x, z) + 0.0 * math.exp(x[0])

    assert product.compiled is None
    assert product.how.startswith("not tried yet")
    np.testing.assert_allclose(product(X), X @ X.T, rtol=1e-12)
    assert product.compiled is True
    assert product.how == "compiled by numba for rows of float64"
    assert repr(product).endswith("# compiled by numba for rows of float64")
    np.testing.assert_allclose(product(X, X[:3]), X @ X[:3].T, rtol=1e-12)
    np.testing.assert_allclose(product.diag(X), (X * X).sum(axis=1), rtol=1e-12)
    single = product(X.astype(np.float32))
    assert single.dtype == np.float32
    assert "float32" in product.how
    assert clone(product).compiled is True  # copies share the compiled function


def test_called_in_python_otherwise():
    np.testing.assert_allclose(through_python(X), X @ X.T, rtol=1e-12)
    assert through_python.compiled is False
    assert through_python.how.startswith("called in Python: numba cannot compile it (")
    assert "\n" not in repr(through_python)
    shared_letters(["a"])
    assert shared_letters.compiled is False
    assert shared_letters.how == "called in Python: the items are not rows of a table of numbers"
    total = kernel(functools.partial(lambda c, x, z: c + x @ z, 1.0))
    np.testing.assert_allclose(total(X), 1 + X @ X.T)
    assert total.compiled is False
    assert "not a plain function" in total.how


class Unknown:
    value = 2.0


def test_why_it_is_called_in_python():
    thing = Unknown()
    with_object = kernel(lambda x, z: thing.value * x[0] * z[0])
    np.testing.assert_allclose(with_object(X), 2 * np.outer(X[:, 0], X[:, 0]))
    assert "cannot compile" in with_object.how
    with_array = kernel(lambda x, z: x * z)
    with pytest.raises(TypeError, match="must return a number"):
        with_array(X)
    assert "it returns array" in with_array.how
    calls = []
    counting = kernel(lambda x, z: float(len(calls)) if calls.append(1) else x[0] * z[0])
    np.testing.assert_allclose(counting(X), np.outer(X[:, 0], X[:, 0]))


def test_compiled_code_must_agree_with_python():
    """Integers wrap around in compiled code; the kernel notices."""

    @kernel
    def huge(x, z):
        n = 3
        for _ in range(60):
            n *= 3
        return n * 1.0

    assert huge([[1.0], [2.0]])[0, 0] == pytest.approx(3.0**61)
    assert huge.compiled is False
    assert "where Python gives" in huge.how


def test_a_function_that_numba_has_compiled_already():
    numba = pytest.importorskip("numba")
    ready = kernel(numba.njit(lambda x, z: x[0] * z[0]))
    np.testing.assert_allclose(ready(X), np.outer(X[:, 0], X[:, 0]))
    assert ready.compiled is True


def test_what_is_no_number():
    with pytest.raises(TypeError, match="returned 'ab' for the items 'a' and 'a'; it must return a number"):
        kernel(lambda a, b: "ab")(["a", "b"])


def test_only_half_of_a_symmetric_matrix_is_computed():
    calls = []

    @kernel
    def counted(a, b):
        calls.append((a, b))
        return len(a) + len(b)

    K = counted(["a", "bb", "ccc"])
    assert len(calls) == 6
    np.testing.assert_array_equal(K, [[2, 3, 4], [3, 4, 5], [4, 5, 6]])


def test_without_the_compiler():
    code = """
        import numpy as np
        from mercer.kernels import Laplacian, Spline, Chi2, ANOVA, kernel
        k = kernel(lambda x, z: x @ z)
        X = np.arange(6.0).reshape(3, 2)
        assert np.allclose(k(X), X @ X.T)
        assert k.compiled is False and "NUMBA_DISABLE_JIT" in k.how, k.how
        for other in (Laplacian(), Spline(), Chi2(), ANOVA()):
            assert other(X).shape == (3, 3)
    """
    run(code, NUMBA_DISABLE_JIT="1")


def test_pickled_by_qualified_name():
    assert pickle.loads(pickle.dumps(shared_letters)) is shared_letters
    assert b"kernel_examples" in pickle.dumps(shared_letters)
    assert len(pickle.dumps(shared_letters)) < 200
    changed = pickle.loads(pickle.dumps(shared_letters.replaced(psd=None)))
    assert changed == shared_letters.replaced(psd=None)
    assert changed.function is shared_letters.function
    assert repr(shared_letters).startswith("shared_letters  #")
    assert shared_letters.replaced(psd=None).expression() == (
        "ItemKernel(function=shared_letters.function, psd=None, symmetric=True)"
    )


def undecorated(a, b):
    return 1.0


def test_pickled_when_the_name_still_means_the_function():
    k = kernel(undecorated)
    assert pickle.loads(pickle.dumps(k)) == k
    assert k.expression() == "ItemKernel(function=undecorated, psd=None, symmetric=True)"


def test_what_cannot_be_pickled_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(kernel(lambda a, b: 1.0))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(FromFunction(lambda A, B: 1.0))


def test_a_name_that_means_something_else_now(monkeypatch):
    data = pickle.dumps(shared_letters)
    monkeypatch.setattr(kernel_examples, "shared_letters", None)
    with pytest.raises(pickle.UnpicklingError, match=r"kernel_examples.shared_letters is no kernel any more"):
        pickle.loads(data)


def run(code, **env):
    import os

    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_in_workers_of_joblib_from_main(tmp_path):
    """A kernel of __main__ reaches worker processes, whose __main__ is another."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import pickle
            import joblib
            import numpy as np
            from mercer.kernels import FromFunction, RBF, kernel

            FACTOR = 2.0

            def helper(a):
                return FACTOR * len(a)

            @kernel(psd=True)
            def lengths(a, b):
                return helper(a) * helper(b)

            @kernel
            def dot(x, z):
                return FACTOR * x[0] * z[0]

            def matrix(A, B):
                return A @ B.T

            def work(k, X):
                return k(X), k.diag(X), getattr(k, "compiled", None), k.is_psd

            if __name__ == "__main__":
                assert pickle.loads(pickle.dumps(lengths)) is lengths
                X = np.arange(6.0).reshape(3, 2)
                jobs = [(lengths, ["a", "bc"]), (dot, X), (dot + RBF(1.0), X), (FromFunction(matrix), X)]
                results = joblib.Parallel(n_jobs=2)(joblib.delayed(work)(k, D) for k, D in jobs)
                for (k, D), (K, diagonal, compiled, psd) in zip(jobs, results):
                    np.testing.assert_array_equal(K, k(D))
                    np.testing.assert_array_equal(diagonal, k.diag(D))
                    assert psd == k.is_psd
                assert results[1][2] is True, results[1][2]
                print("done")
        """)
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "done", result.stderr


def test_a_pickled_main_function_is_built_once():
    from mercer.kernels.items import _by_value, _from_main

    payload = _by_value(smooth.function)
    one = _from_main("no_such_name", payload, None, True)
    two = _from_main("no_such_name", payload, None, True)
    assert one.function is two.function
    assert one == two


def test_in_threads_of_joblib():
    results = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(smooth)(X) for _ in range(4))
    for K in results:
        np.testing.assert_allclose(K, RBF(0.1)(X), rtol=1e-10)
    mixed = smooth * Linear() + RBF(0.5).on([0])
    np.testing.assert_allclose(mixed(X), smooth(X) * (X @ X.T) + RBF(0.5)(X[:, :1]), rtol=1e-10)
