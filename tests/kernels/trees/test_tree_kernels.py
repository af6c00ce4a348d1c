"""Tree kernels against enumeration, published counts, and what every kernel of items must do."""

import ast
import pickle
from types import SimpleNamespace

import naive_trees as naive
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.kernels import PartialTree, SubsetTree, Subtree

pytestmark = pytest.mark.core

KERNELS = [
    (Subtree(0.4), lambda x, z: naive.subtree(x, z, 0.4, False)),
    (Subtree(1.0, leaves=True), lambda x, z: naive.subtree(x, z, 1.0, True)),
    (Subtree(0.7, leaves=True), lambda x, z: naive.subtree(x, z, 0.7, True)),
    (SubsetTree(0.4), lambda x, z: naive.subset_tree(x, z, 0.4, False)),
    (SubsetTree(1.0), lambda x, z: naive.subset_tree(x, z, 1.0, False)),
    (SubsetTree(0.3, leaves=True), lambda x, z: naive.subset_tree(x, z, 0.3, True)),
    (PartialTree(), lambda x, z: naive.partial_tree(x, z, 0.4, 0.4, 1.0, "skipped")),
    (PartialTree(1.0, 1.0), lambda x, z: naive.partial_tree(x, z, 1.0, 1.0, 1.0, "skipped")),
    (PartialTree(0.6, 0.3, 0.5), lambda x, z: naive.partial_tree(x, z, 0.6, 0.3, 0.5, "skipped")),
    (
        PartialTree(0.5, 0.7, 2.0, gaps="distance"),
        lambda x, z: naive.partial_tree(x, z, 0.5, 0.7, 2.0, "distance"),
    ),
]
IDS = [repr(kernel) for kernel, _ in KERNELS]
ALONE = [kernel for kernel, _ in KERNELS]


def random_tree(rng, labels, depth):
    """Return a random tree as nested tuples."""
    name = str(rng.choice(list(labels)))
    if depth == 0 or rng.random() < 0.25:
        return (name,)
    return (name, *(random_tree(rng, labels, depth - 1) for _ in range(rng.integers(1, 4))))


def random_trees(seed, n, labels="ab"):
    rng = np.random.default_rng(seed)
    return [*(random_tree(rng, labels, 3) for _ in range(n - 3)), ("a",), ("a", ("a", ("a",))), ()]


def bracketed(tree, style):
    """Return nested tuples as text, leaves bare or in brackets."""
    if not tree:
        return ""
    label, *children = tree
    if style == "words":
        inner = "".join(f" {bracketed(c, style) if len(c) > 1 else c[0]}" for c in children)
        return f"({label}{inner})"
    return f"({label}{''.join(bracketed(c, style) for c in children)})"


def close(values, truth):
    np.testing.assert_allclose(values, truth, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("kernel", "function"), KERNELS, ids=IDS)
def test_values_are_counts_of_fragments(kernel, function):
    X, Z = random_trees(0, 12), random_trees(1, 10, "abc")  # c is new
    truth = np.array([[function(x, z) for z in Z] for x in X])
    close(kernel(X, Z), truth)
    close(kernel(Z, X), truth.T)
    close(kernel(X), [[function(x, z) for z in X] for x in X])
    close(kernel.diag(Z), [function(z, z) for z in Z])


def test_published_counts():
    apple = "(NP (D the) (N apple))"  # Collins and Duffy: six fragments
    assert SubsetTree(1.0)([apple])[0, 0] == 6.0
    cat = "(VP (V brought) (NP (D a) (N cat)))"  # Moschitti: 17 fragments, 5 complete subtrees
    assert SubsetTree(1.0)([cat])[0, 0] == 17.0
    assert Subtree(1.0)([cat])[0, 0] == 5.0


@pytest.mark.parametrize("kernel", ALONE, ids=IDS)
def test_all_ways_to_write_a_tree(kernel):
    nltk_like = type("Listed", (list,), {"label": lambda self: self.name})

    def as_objects(tree):
        return SimpleNamespace(label=tree[0], children=[as_objects(c) for c in tree[1:]])

    def as_lists(tree):
        if len(tree) == 1:
            return tree[0]
        made = nltk_like(as_lists(c) for c in tree[1:])
        made.name = tree[0]
        return made

    X = [x for x in random_trees(2, 10) if len(x) > 1]
    truth = kernel(X)
    for style in ("words", "brackets"):
        text = [bracketed(x, style) for x in X]
        for data in (text, np.array(text), np.array(text, dtype=object), np.array(text)[:, None]):
            close(kernel(data), truth)
    close(kernel([as_objects(x) for x in X]), truth)
    close(kernel([as_lists(x) for x in X]), truth)
    close(kernel([list(x) for x in X]), truth)


def test_trees_of_nltk():
    nltk = pytest.importorskip("nltk")
    text = ["(S (NP (D the) (N cat)) (VP sat))", "(S (NP (N cats)) (VP sat))"]
    close(SubsetTree()([nltk.Tree.fromstring(t) for t in text]), SubsetTree()(text))


def test_syntax_trees_of_python():
    kernel = SubsetTree(0.5)
    same = kernel([ast.parse("x = y + 1"), ast.parse("x = y + 1"), ast.parse("while f(x): x = 'y'")])
    assert same[0, 0] == same[0, 1] == same[1, 1]
    assert 0 < same[0, 2] < same[0, 0]
    assert kernel.check([ast.parse("x = 'x'", mode="exec").body[0]]) == [
        "(Assign(Name(x)(Store))(Constant('x')))"
    ]


def test_labels_hold_anything():
    odd = [("a b", ("(", ")"), "\\"), ("a b", ("(", "x"), "\\")]
    truth = SubsetTree(1.0)([("A", ("B", "C"), "D"), ("A", ("B", "E"), "D")])
    close(SubsetTree(1.0)(odd), truth)
    text = SubsetTree().check(odd)
    assert SubsetTree().check(text) == text
    close(SubsetTree(1.0)(text), truth)
    close(SubsetTree(1.0)([(1, 2, 3)]), [[1.0]])
    close(SubsetTree(1.0)(["( (S (N cat)))", "((S (N cat)))"]), np.full((2, 2), 6.0))


@pytest.mark.parametrize("kernel", [Subtree(0.5), SubsetTree(0.5), PartialTree(0.5, 0.5)], ids=repr)
def test_deep_and_wide_trees(kernel):
    deep = "(a" * 3000 + ")" * 3000
    nested = ("a",)
    for _ in range(2999):
        nested = ("a", nested)
    wide = "(a " + "b " * 2000 + ")"
    K = kernel([deep, nested, wide])
    assert np.isfinite(K).all()
    close(K[0], K[1])
    if isinstance(kernel, SubsetTree):  # a chain: the value of k nodes with children is d + d v(k - 1)
        values = [0.0]
        for _ in range(2999):
            values.append(0.5 * (1.0 + values[-1]) if len(values) > 1 else 0.5)
        truth = sum(values[min(i, j)] for i in range(1, 60) for j in range(1, 60))
        chain = "(a" * 60 + ")" * 60
        close(kernel([chain])[0, 0], truth)


def test_too_many_fragments_are_told():
    tree = "(a " + "(b (c d))" * 1200 + ")"
    with pytest.raises(ValueError, match="lower the decay"):
        SubsetTree(1.0)([tree])
    assert np.isfinite(SubsetTree(0.4)([tree])).all()


@pytest.mark.parametrize("kernel", ALONE, ids=IDS)
def test_blocks_order_and_copies(kernel):
    X = random_trees(3, 14)
    K = kernel(X)
    order = np.random.default_rng(0).permutation(len(X))
    close(kernel([X[i] for i in order]), K[np.ix_(order, order)])
    close(kernel(X[:4], X), K[:4])
    prepared = kernel.prepare(kernel.check(X))
    few = kernel.take(prepared, [3, 1, 11])
    close(kernel.evaluate(few, prepared), K[[3, 1, 11]])
    new = kernel.prepare(kernel.check(random_trees(4, 6, "abcd")), prepared)
    close(kernel.evaluate(new, few), kernel(random_trees(4, 6, "abcd"), [X[i] for i in (3, 1, 11)]))
    for copy in (pickle.loads(pickle.dumps(kernel)), clone(kernel), eval(repr(kernel), vars(mercer.kernels))):
        assert copy == kernel
    if kernel.is_psd:
        assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.trace(K)


@pytest.mark.parametrize("kernel", [Subtree(), SubsetTree(), PartialTree()], ids=repr)
def test_machines_on_trees(kernel, tmp_path):
    X = [("s", x, ("a", "b")) for x in random_trees(5, 40) if x]
    y = np.array([("a", ("b",)) in naive.nodes(x) for x in X])
    kernel = kernel.normalized()
    asked = {"C": 10.0, "criterion": "gap", "tol": 1e-7}
    model = mercer.SVC(kernel=kernel, **asked).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).status == "optimal"
    twin = mercer.SVC(kernel="precomputed", **asked).fit(kernel(X), y)
    np.testing.assert_allclose(model.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    mercer.save(model, tmp_path / "trees.mercer")
    same = mercer.load(tmp_path / "trees.mercer")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), rtol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.decision_function(X[:5]), model.decision_function(X[:5]), rtol=1e-12)


def test_decay_is_searched():
    X = [x for x in random_trees(6, 40) if x]
    y = np.array([len(naive.nodes(x)) > 5 for x in X])
    search = GridSearchCV(mercer.SVC(kernel=SubsetTree()), {"kernel__decay": [0.1, 0.5]}, cv=2).fit(X, y)
    assert search.best_params_["kernel__decay"] in (0.1, 0.5)


def test_subtrees_are_features_with_names():
    fitted = Subtree(1.0).feature_map(["(NP (D the) (N cat))", "(N cat)"])
    assert set(fitted.names) == {"the", "cat", "(D the)", "(N cat)", "(NP (D the) (N cat))"}
    kernel = Subtree(0.4)
    X, Z = random_trees(7, 9), random_trees(8, 8, "abc")
    fitted = kernel.feature_map(X)
    A, B = fitted.transform(kernel.check(X)), fitted.transform(kernel.check(Z))
    close((A @ B.T).toarray(), kernel(X, Z))
    close(fitted.squared_norms(kernel.check(Z)), kernel.diag(Z))
    assert len(fitted.names) == A.shape[1] == len(set(fitted.names))


def circle():
    node = SimpleNamespace(label="a", children=[])
    node.children.append(node)
    return node


@pytest.mark.parametrize(
    ("kernel", "data", "message"),
    [
        (SubsetTree(), "(a b)", "must be a list or array of trees; it is a str"),
        (SubsetTree(), ["(a b)", None], r"X\[1\] is missing \(None\)"),
        (SubsetTree(), ["(a b)", 3.5], r"X\[1\] is a float; a tree kernel compares trees"),
        (SubsetTree(), ["(a b)", "a b"], r"X\[1\] is no tree: 'a b' has words outside of brackets"),
        (SubsetTree(), ["(a b"], r"X\[0\] is no tree: 1 brackets of '\(a b' are never closed"),
        (SubsetTree(), ["(a b))"], r"X\[0\] is no tree: '\(a b\)\)' closes a bracket that is not open"),
        (SubsetTree(), ["(a b)(c)"], r"X\[0\] holds more than one tree"),
        (SubsetTree(), [("a", ())], r"X\[0\] is no tree: one of its nodes is an empty list"),
        (SubsetTree(), [("a", None)], r"X\[0\] is no tree: one of its nodes is missing \(None\)"),
        (SubsetTree(), [(("a",), "b")], r"X\[0\] is no tree: the label of a node is a tuple"),
        (SubsetTree(), [circle()], r"X\[0\] is no tree: a node is among its own descendants"),
        (SubsetTree(), [], "0 sample"),
        (SubsetTree(), np.ones((3, 2)), r"X has shape \(3, 2\)"),
        (SubsetTree().normalized(), ["(a b)", None], r"X\[1\] is missing \(None\)"),
        (SubsetTree(1.5), ["(a b)"], "decay=1.5"),
        (Subtree(0), ["(a b)"], "decay=0"),
        (PartialTree(gaps="none"), ["(a b)"], "gaps='none'"),
    ],
)
def test_what_is_wrong_is_named(kernel, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernel(data)
