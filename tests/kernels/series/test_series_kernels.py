"""Kernels between time series against their definitions, and the forms that series come in."""

import math

import naive_series as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import DTW, GlobalAlignment, Signature


def series(seed, lengths, channels=1):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, channels)) for n in lengths]


def of_pairs(function, X, Z):
    return np.array([[function(x, z) for z in Z] for x in X])


def close(values, truth, rtol=1e-12):
    np.testing.assert_allclose(values, truth, rtol=rtol, atol=0)


LENGTHS = [3, 1, 0, 5, 4, 2, 5, 4, 1, 5]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("sigma", "band"), [(0.7, 0), (5.0, 0), (1.0, 1), (1.0, 3), (0.4, 20)])
def test_global_alignments_are_sums_over_all_alignments(sigma, band, channels):
    X, Z = series(0, LENGTHS, channels), series(1, LENGTHS[::-1][:7], channels)
    kernel = GlobalAlignment(sigma, triangular=band)
    truth = of_pairs(lambda x, z: naive.global_alignment(x, z, sigma, band), X, Z)
    close(kernel(X, Z), truth)
    close(kernel(Z, X), truth.T)
    close(kernel(X), of_pairs(lambda x, z: naive.global_alignment(x, z, sigma, band), X, X))
    close(kernel.diag(X), np.ones(len(X)))


@pytest.mark.parametrize(("sigma", "band"), [(10.0, 0), (0.3, 0), (0.02, 0), (0.3, 30), (0.02, 200)])
def test_no_series_is_too_long_and_no_width_too_small(sigma, band):
    """Sums that are neither in the range of numbers nor, with a small sigma, near the largest one."""
    rng = np.random.default_rng(2)
    x = np.cumsum(rng.normal(size=(400, 1)), axis=0)
    gap = 160 if sigma > 0.1 else 150  # points that a narrow kernel cannot pair would make the value 0
    z = np.concatenate([x[:150], x[gap:]])
    z += 0.02 * rng.normal(size=z.shape)
    truth = naive.long_global_alignment(x, z, sigma, band)
    assert 1e-300 < truth < 1.0
    close(GlobalAlignment(sigma, band)([x], [z]), [[truth]], 1e-10)  # a product of 800 factors


def test_both_ways_of_adding_agree(monkeypatch):
    """The recursion in logarithms is taken where the other one may lose something: here, everywhere."""
    X = series(3, [40, 37, 45, 40], 2)
    quick = GlobalAlignment(3.0)(X)
    far = [*X, [[1e3, -1e3]] * 40]  # so far from the others that no exponential is of use
    close(GlobalAlignment(3.0)(far)[:4, :4], quick)
    assert (GlobalAlignment(3.0)(far)[4, :4] == 0).all()
    close(GlobalAlignment(1e-3)(X), np.eye(4))


def test_lengths_that_differ_by_the_band():
    X = [np.zeros(n) for n in (3, 5, 6, 7)]
    K = GlobalAlignment(1.0, triangular=2)(X)
    assert ((K == 0) == (np.abs(np.subtract.outer([3, 5, 6, 7], [3, 5, 6, 7])) >= 2)).all()


def test_values_of_peers():
    # tslearn 0.10: cdist_gak and cdist_dtw
    X = [[0.5, 1.0, -0.25, 2.0], [1.5, 1.0, 0.0], [0.25, -1.0, 2.5, 2.0, 1.0, 0.5], [3.0]]
    aligned = [0.007336837046513961, 0.0010189839488333368, 1.7257862110609627e-09]
    close(GlobalAlignment(0.8)(X)[0, 1:], aligned, 1e-12)
    close(GlobalAlignment(0.8)(X)[2, 3], 1.1317940565991444e-14, 1e-12)
    planes = [[[0.0, 1.0], [1.0, 0.5], [2.0, -1.0]], [[0.5, 0.5], [1.5, -0.5]]]
    close(GlobalAlignment(1.7)(planes)[0, 1], 0.6057084676992174, 1e-12)
    costs = np.array([0.0, 5.0625, 4.6875, 21.8125])
    for kernel in (DTW(0.1), DTW(0.1, window=1)):
        close(kernel(X)[0], np.exp(-0.1 * costs), 1e-12)
    close(DTW(0.1, root=True)(X)[0], np.exp(-0.1 * np.sqrt(costs)), 1e-12)
    # esig 1.0: stream2sig
    entries = [
        1.0,
        0.5,
        -0.75,
        0.125,
        -0.9375,
        0.5625,
        0.28125,
        0.020833333333333332,
        -0.7395833333333333,
        1.0104166666666665,
        -0.036458333333333426,
        -0.36458333333333326,
        0.7760416666666669,
        -0.5989583333333335,
        -0.0703125,
    ]
    path = [[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [0.5, 0.25]]
    np.testing.assert_allclose(Signature(3).feature_map([path]).transform([path])[0], entries, atol=1e-14)


@pytest.mark.parametrize("window", [None, 0, 1, 3])
@pytest.mark.parametrize("channels", [1, 2])
def test_warping_costs_are_the_least_of_all_alignments(window, channels):
    X, Z = series(4, LENGTHS, channels), series(5, LENGTHS[::-1][:7], channels)
    truth = of_pairs(lambda x, z: naive.warping_cost(x, z, window), X, Z)
    close(DTW(0.3, window=window)(X, Z), np.exp(-0.3 * truth))
    close(DTW(0.3, window=window, root=True)(Z, X), np.exp(-0.3 * np.sqrt(truth.T)))


@pytest.mark.parametrize("lead_lag", [False, True])
@pytest.mark.parametrize("time", [False, True])
def test_signatures_are_iterated_sums(lead_lag, time):
    X = series(6, [4, 1, 0, 5, 2, 3], 2)
    kernel = Signature(3, lead_lag=lead_lag, time=time, scale=0.7)
    found = [naive.signature(naive.path(x, lead_lag, time, 0.7), 3) for x in X if len(x)]
    truth = np.array(found)
    some = [x for x in X if len(x)]
    mapped = kernel.feature_map(some)
    np.testing.assert_allclose(mapped.transform(some), truth, rtol=1e-12, atol=1e-12 * np.abs(truth).max())
    assert len(mapped.names) == truth.shape[1] == len(set(mapped.names))
    for method in ("features", "recursion"):
        K = kernel.replaced(method=method)(some)
        np.testing.assert_allclose(K, truth @ truth.T, rtol=1e-12, atol=1e-12 * K.max())
    assert (kernel(X)[2] == 1.0).all()  # no path, no integrals


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.floats(-3, 3), min_size=0, max_size=12), min_size=1, max_size=4),
    st.integers(1, 4),
    st.booleans(),
)
def test_both_ways_to_inner_products_of_signatures_agree(X, level, lead_lag):
    kernels = [Signature(level, lead_lag=lead_lag, time=True, method=m) for m in ("features", "recursion")]
    one, two = (kernel(X) for kernel in kernels)
    size = kernels[0].magnitude(kernels[0].check(X))
    assert (np.abs(one - two) <= 1e-12 * np.outer(size, size)).all()


def test_what_signatures_do_not_see():
    x = series(7, [6], 2)[0]
    often = np.repeat(x, 3, axis=0)  # at another speed
    K = Signature(4)([x, often, x + 5.0])
    close(K, np.full((3, 3), K[0, 0]), 1e-10)
    K = Signature(2, time=True)([x, often])
    assert abs(K[0, 1] - K[0, 0]) > 1e-3
    one = [0.0, 2.0, 1.0, 4.0]  # of one channel only the increment is left
    close(Signature(3)([one]), [[sum((4.0**k / math.factorial(k)) ** 2 for k in range(4))]])
    areas = Signature(2, lead_lag=True).feature_map([one])
    entry = dict(zip(areas.names, areas.transform([one])[0], strict=True))
    close(entry["lead0,lag0"] - entry["lag0,lead0"], sum(np.diff(one) ** 2))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=0, max_size=9), min_size=2, max_size=8),
    st.floats(0.05, 20.0),
    st.integers(0, 6),
)
def test_global_alignments_are_definite(X, sigma, band):
    K = GlobalAlignment(sigma, band)(X)
    assert (K == K.T).all()
    assert K.min() >= 0
    assert K.max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * len(X)


def test_warping_is_not_definite():
    X = series(8, [10] * 25)
    assert DTW().is_psd is None
    assert np.linalg.eigvalsh(DTW(0.05)(X)).min() < -1e-6
    assert np.linalg.eigvalsh(DTW(0.05).clipped()(X)).min() > -1e-12


def test_the_median_width():
    X = series(9, [20, 30, 40])
    resolved = GlobalAlignment().resolve(X)
    points = np.concatenate(X).ravel()
    all_pairs = np.median(np.abs(points[:, None] - points)[np.triu_indices(points.size, 1)])
    np.testing.assert_allclose(resolved.sigma, all_pairs * np.sqrt(30), rtol=0.2)  # of some points
    assert GlobalAlignment().resolve([[1.0, 1.0], [1.0]]).sigma == 1.0
    scaled = GlobalAlignment().resolve([100 * x for x in X]).sigma
    np.testing.assert_allclose(scaled, 100 * resolved.sigma)


@pytest.mark.parametrize("kernel", [GlobalAlignment(), DTW()])
def test_a_weight_of_two_is_the_series_twice(kernel):
    X = series(10, [20, 30, 40, 25])
    twice = [X[0], X[0], X[1], X[3], X[3], X[3]]
    weighted = kernel.resolve(X, [2.0, 1.0, 0.0, 3.0]).get_params()
    for name, value in kernel.resolve(twice).get_params().items():
        assert value == pytest.approx(weighted[name], rel=1e-12) if name in ("sigma", "gamma") else True
    assert weighted != kernel.resolve(X).get_params()


@pytest.mark.parametrize("kernel", [GlobalAlignment(2.0), DTW(0.1), Signature(3, time=True)], ids=repr)
def test_all_ways_to_write_series(kernel):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(11)
    flat = rng.normal(size=(5, 7))
    K = kernel(flat)
    cells = [row.tolist() for row in flat]
    objects = np.empty(5, dtype=object)
    objects[:] = list(flat)
    same = [
        flat[:, :, None], list(flat), cells, tuple(map(tuple, cells)), objects, objects[:, None],
        flat.astype(np.float64, order="F"), [pd.Series(row) for row in flat], pd.DataFrame(flat),
        pd.Series(list(flat)), pd.DataFrame({"a": list(flat)}), [pl.Series(row) for row in cells],
        pl.DataFrame({"a": cells}), pl.Series(cells),
    ]  # fmt: skip
    for form in same:
        close(kernel(form), K)
    deep = rng.normal(size=(4, 6, 2))
    K = kernel(deep)
    close(kernel(list(deep)), K)
    close(kernel(deep.tolist()), K)
    close(kernel([pd.DataFrame(one) for one in deep]), K)
    channels = {"a": list(deep[:, :, 0]), "b": list(deep[:, :, 1])}
    close(kernel(pd.DataFrame(channels)), K)
    close(kernel(pl.DataFrame({k: [c.tolist() for c in v] for k, v in channels.items()})), K)
    padded = np.full((3, 6, 2), np.nan)
    for i, n in enumerate((6, 3, 4)):
        padded[i, :n] = deep[i, :n]
    close(kernel(padded), kernel([deep[0], deep[1, :3], deep[2, :4]]))
    close(kernel(padded[:, :, 0]), kernel([deep[0, :, 0], deep[1, :3, 0], deep[2, :4, 0]]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1.0, 2.0], None], r"X\[1\] is missing \(None\)"),
        ([[1.0, 2.0], float("nan")], r"X\[1\] is missing \(nan\)"),
        ([[1.0, 2.0], "ab"], r"X\[1\] is a str; a kernel of time series compares series"),
        ([1.0, 2.0], r"X\[0\] is a float; .* Put a single series into a list"),
        (np.array([1.0, 2.0]), r"X\[0\] is a float; .* Put a single series into a list"),
        ([[1.0], ["a", "b"]], r"X\[1\] is an array of <U1"),
        ([[1.0], [1.0, object()]], r"X\[1\] holds a object"),
        ([[1.0], [1.0, np.nan, 2.0]], r"X\[1\] holds nan at time 1; impute it"),
        ([[[1.0, 2.0]], [[1.0, np.inf]]], r"X\[1\] holds inf at time 0 in channel 1"),
        ([[[1.0, 2.0]], [[1.0]]], r"X\[1\] has 1 channel\(s\), but X\[0\] has 2"),
        ([[[1.0, 2.0], [1.0]]], r"X\[0\] has points of different numbers of channels"),
        (np.zeros((2, 3, 4, 5)), r"shape \(2, 3, 4, 5\)"),
        (np.array([[1.0, np.nan, 2.0]]), r"X\[0\] holds nan at time 1"),
        (np.array([[1.0, 2.0], [np.nan, np.nan]]), r"X\[1\] is missing: all of its values are NaN"),
        ([], "0 sample"),
        (np.empty((0, 3)), "0 sample"),
        ("abc", r"X must be a list or array of time series"),
    ],
)
def test_what_is_wrong_is_named(data, message):
    for kernel in (GlobalAlignment(1.0), DTW(1.0), Signature(2), GlobalAlignment(1.0).normalized()):
        with pytest.raises((TypeError, ValueError), match=message):
            kernel(data)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (GlobalAlignment(0.0), "sigma=0.0"),
        (GlobalAlignment("mean"), "sigma='mean'"),
        (GlobalAlignment(1.0, -1), "triangular=-1"),
        (DTW(-1.0), "gamma=-1.0"),
        (DTW("scale"), "gamma='scale'"),
        (DTW(1.0, window=-1), "window=-1"),
        (DTW(1.0, root=3), "root=3"),
        (Signature(0), "level=0"),
        (Signature(2, scale=0.0), "scale=0.0"),
        (Signature(2, method="fast"), "method='fast'"),
        (Signature(2, time=2), "time=2"),
    ],
)
def test_wrong_parameters_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel([[1.0, 2.0]])


@pytest.mark.parametrize("kernel", [GlobalAlignment(1.0), DTW(1.0), Signature(2)], ids=repr)
def test_channels_of_two_data_sets_must_agree(kernel):
    with pytest.raises(ValueError, match=r"X have 2 channel\(s\), those of Z 1"):
        kernel(np.zeros((2, 3, 2)), np.zeros((2, 3)))
