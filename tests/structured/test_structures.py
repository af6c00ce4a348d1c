"""The ready structures against brute force, and their compiled passes against the three methods."""

import numpy as np
import pytest

from mercer import _jit
from mercer.structured import Chain, CostSensitive, Examples, MultiLabel, Structure
from mercer.structured.multi_label import dependence_tree
from mercer.structured.ragged import Ragged
from mercer.threads import Workers
from structured.exhaustive import best, chains, label_sets, words

pytestmark = pytest.mark.core

COSTS = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 2.0], [1.0, 0.25, 0.0]])


def resolved(structure, X, Y):
    inputs = structure.checked_inputs(X)
    outputs = structure.checked_outputs(inputs, Y)
    known = structure.resolve(inputs, outputs)
    return known, inputs, outputs, known.examples(inputs, outputs, Workers(2))


def table(rng, n=25, d=3):
    X = rng.normal(size=(n, d))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])


def label_table(rng, k=4):
    X = rng.normal(size=(30, 3))
    Y = (X @ rng.normal(size=(3, k)) + 0.5 * rng.normal(size=(30, k)) > 0).astype(int)
    return X, Y


def cases():
    rng = np.random.default_rng(0)
    yield "chain", Chain(), *words(rng)
    yield "chain, no bias", Chain(bias=False), *words(rng)
    yield "chain, costs", Chain(costs=COSTS), *words(rng)
    yield "chain, edges", Chain(edge_features=True), *words(rng, edges=2)
    yield "labels", MultiLabel(), *label_table(rng)
    yield "labels, pairs", MultiLabel([(0, 1), (3, 1)], bias=False), *label_table(rng)
    yield "labels, tree", MultiLabel("tree"), *label_table(rng)
    X, y = table(rng)
    yield "classes", CostSensitive(), X, y
    yield "classes, costs", CostSensitive(COSTS, bias=False), X, np.array(["a", "b", "c"])[y]


CASES = list(cases())
IDS = [case[0] for case in CASES]


def all_outputs(structure, y):
    if isinstance(structure, Chain):
        return chains(structure.n_labels, len(y))
    if isinstance(structure, MultiLabel):
        return label_sets(structure.n_labels)
    return list(structure.classes)


@pytest.mark.parametrize(("name", "structure", "X", "Y"), CASES, ids=IDS)
def test_argmax_is_the_maximum(name, structure, X, Y):
    known, *_ = resolved(structure, X, Y)
    rng = np.random.default_rng(1)
    w = rng.normal(size=known.n_weights)
    for x, y in zip(X, Y, strict=True):
        outputs = all_outputs(known, y)
        for truth in (None, y):
            found = known.argmax(x, w, truth)
            score = best(known, x, w, [found], truth)
            assert score == pytest.approx(best(known, x, w, outputs, truth), abs=1e-10)
        assert best(known, x, w, [known.predict(x, w)]) == pytest.approx(best(known, x, w, outputs))


@pytest.mark.parametrize(("name", "structure", "X", "Y"), CASES, ids=IDS)
def test_compiled_passes_agree_with_the_three_methods(name, structure, X, Y):
    known, inputs, _outputs, fast = resolved(structure, X, Y)
    naive = Examples(known, X, Y, Workers(1))
    assert (fast.n, fast.width) == (naive.n, naive.width)
    rng = np.random.default_rng(2)
    w = rng.normal(size=fast.width)
    for rows in (np.arange(fast.n), rng.permutation(fast.n)[:7]):
        found, values, bounds = fast.worst(rows, w)
        _, slow, _ = naive.worst(rows, w)
        np.testing.assert_allclose(values, slow, atol=1e-9)
        np.testing.assert_allclose(bounds, np.maximum(slow, 0.0), atol=1e-9)
        plain = [known.classes[y] for y in found] if isinstance(known, CostSensitive) else list(found)
        mine, losses = fast.differences(rows, found)
        theirs, expected = naive.differences(rows, plain)
        np.testing.assert_allclose(mine.toarray(), theirs.toarray(), atol=1e-12)
        np.testing.assert_allclose(losses, expected)
        np.testing.assert_allclose(fast.scores(rows, found, w), values, atol=1e-9)
        assert [key is None for key in fast.keys(rows, found)] == [
            key is None for key in naive.keys(rows, plain)
        ]
    for i in range(fast.n):
        np.testing.assert_allclose(fast.true_feature(i), naive.true_feature(i))
        assert 2 * np.linalg.norm(naive.true_feature(i)) <= fast.reach[i] + 1e-9
    predicted = known.predictions(inputs, w, Workers(2))
    for x, y in zip(X, predicted, strict=True):
        assert best(known, x, w, [y]) == pytest.approx(best(known, x, w, [known.predict(x, w)]))


@pytest.mark.parametrize(("name", "structure", "X", "Y"), CASES, ids=IDS)
def test_structures_are_values(name, structure, X, Y):
    known, *_ = resolved(structure, X, Y)
    assert known == known.replaced()
    assert hash(known) == hash(known.replaced())
    assert known != structure
    assert repr(known).startswith(type(structure).__name__)
    with pytest.raises(ValueError, match="weights"):
        known.check_weights(np.zeros(3))


def test_viterbi_runs_uncompiled():
    """Sequences of one node, and more nodes than a batch has."""
    rng = np.random.default_rng(0)
    X, Y = (
        [rng.normal(size=(1, 2)), rng.normal(size=(20_000, 2))],
        [np.array([0]), rng.integers(0, 2, 20_000)],
    )
    _known, inputs, _, fast = resolved(Chain(), X, Y)
    w = rng.normal(size=fast.width)
    found, _, _ = fast.worst(np.arange(2), w)
    assert [len(y) for y in found] == [1, 20_000]
    function = getattr(_jit.viterbi.decode, "py_func", _jit.viterbi.decode)
    scores, labels, values = inputs.nodes[:1] @ w[:6].reshape(2, 3)[:, :2].T, np.zeros(1, int), np.zeros(1)
    offsets, none = np.array([0, 1]), np.zeros(0, int)
    function(
        scores, offsets, np.zeros((1, 2, 2)), np.zeros((1, 0)), none, np.zeros((2, 2)), 0, 1, labels, values
    )
    assert labels[0] == scores[0].argmax()


def test_dependence_tree_follows_the_information():
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    Y = np.column_stack(
        [a, c, np.where(rng.random(500) < 0.1, 1 - a, a), np.where(rng.random(500) < 0.2, 1 - c, c)]
    )
    tree = dependence_tree(Y)
    assert len(tree) == 3
    assert {(0, 2), (1, 3)} <= set(tree)


def test_ragged_sequences():
    ragged = Ragged.of([[1, 2], [3], [4, 5, 6]])
    assert [y.tolist() for y in ragged] == [[1, 2], [3], [4, 5, 6]]
    assert ragged[-1].tolist() == [4, 5, 6]
    assert [y.tolist() for y in ragged.take(np.array([2, 0]))] == [[4, 5, 6], [1, 2]]
    with pytest.raises(IndexError):
        ragged[3]


@pytest.mark.parametrize(
    ("structure", "X", "Y", "match"),
    [
        (Chain(), [np.zeros((2, 1))], [np.zeros(3, int)], "3 labels"),
        (Chain(), [np.zeros((2, 1))], [np.zeros(2)], "whole numbers"),
        (Chain(), [np.zeros((2, 1))], [[-1, 0]], "from -1"),
        (Chain(n_labels=2), [np.zeros((2, 1))], [[0, 2]], "from 0 to 1"),
        (Chain(), [np.zeros((2, 1)), np.zeros((1, 2))], [[0, 1], [0]], r"X\[1\] has 2 features"),
        (Chain(), [np.zeros((0, 1))], [[]], "no nodes"),
        (Chain(), [np.array([[np.nan]])], [[0]], "nan"),
        (Chain(), [np.zeros(3)], [[0, 1, 0]], "two dimensions"),
        (Chain(), [np.zeros((2, 1))], [[0, 0]], "at least 2 labels"),
        (Chain(edge_features=True), [np.zeros((2, 1))], [[0, 1]], "pair"),
        (Chain(edge_features=True), [(np.zeros((2, 1)), np.zeros((2, 1)))], [[0, 1]], "one fewer"),
        (Chain(costs=np.ones((2, 2))), [np.zeros((2, 1))], [[0, 1]], "costs"),
        (Chain(n_labels=1), [np.zeros((2, 1))], [[0, 1]], "n_labels=1"),
        (Chain(bias=2), [np.zeros((2, 1))], [[0, 1]], "bias=2"),
        (MultiLabel(), np.zeros((2, 1)), [[0, 2], [1, 1]], "zeros and ones"),
        (MultiLabel([(0, 1), (1, 2), (2, 0)]), np.zeros((2, 1)), [[0, 1, 0], [1, 1, 0]], "cycle"),
        (MultiLabel([(0, 3)]), np.zeros((2, 1)), [[0, 1], [1, 1]], r"\(0, 3\)"),
        (MultiLabel("star"), np.zeros((2, 1)), [[0, 1], [1, 1]], "star"),
        (CostSensitive(), np.zeros((2, 1)), [1, 1], "greater than one"),
        (CostSensitive(classes=[0, 1]), np.zeros((2, 1)), [0, 2], "not one of"),
        (CostSensitive(classes=[1, 0]), np.zeros((2, 1)), [0, 1], "ascending"),
    ],
)
def test_bad_data_and_parameters_are_refused(structure, X, Y, match):
    with pytest.raises(ValueError, match=match):
        resolved(structure, X, Y)


class Sign(Structure):
    """A structure of a user's: -1 or 1, as simple as can be."""

    exact = True

    def joint_feature(self, x, y):
        return y * np.asarray(x)

    def loss(self, y, other):
        return float(y != other)

    def argmax(self, x, w, y=None):
        return max((-1, 1), key=lambda z: z * (x @ w) + (0.0 if y is None else self.loss(y, z)))


class LongerForOne(Sign):
    def joint_feature(self, x, y):
        return np.ones(2 if y == 1 else 3)

    def argmax(self, x, w, y=None):
        return 1


class CostsItself(Sign):
    def loss(self, y, other):
        return 1.0


class NegativeLoss(Sign):
    def loss(self, y, other):
        return -float(y != other)


class AlwaysOne(Sign):
    def argmax(self, x, w, y=None):
        return 1


@pytest.mark.parametrize(
    ("structure", "match"),
    [
        (LongerForOne(), "joint_feature returned 2 numbers"),
        (CostsItself(), "must be 0"),
        (NegativeLoss(), "at least 0"),
        (AlwaysOne(), "exact"),
    ],
)
def test_three_methods_that_contradict_themselves_are_refused(structure, match):
    X, Y = [np.array([1.0, 2.0]), np.array([-3.0, 1.0])], [-1, -1]
    with pytest.raises(ValueError, match=match):
        Examples(structure, X, Y, Workers(1)).worst(np.arange(2), np.array([-5.0, 0.0]))
