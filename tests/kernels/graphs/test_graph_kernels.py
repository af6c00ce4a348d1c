"""Graph kernels against their definitions, and what every kernel of items must do."""

import itertools
import pickle

import naive_graphs as naive
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.kernels import (
    AttributedShortestPath,
    Diffusion,
    EdgeHistogram,
    Graphlets,
    RandomWalk,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)

pytestmark = pytest.mark.core

KERNELS = [
    (WeisfeilerLehman(0), lambda x, z: naive.weisfeiler_lehman(x, z, 0, "subtree")),
    (WeisfeilerLehman(3), lambda x, z: naive.weisfeiler_lehman(x, z, 3, "subtree")),
    (WeisfeilerLehman(2, "edge"), lambda x, z: naive.weisfeiler_lehman(x, z, 2, "edge")),
    (WeisfeilerLehman(2, "shortest_path"), lambda x, z: naive.weisfeiler_lehman(x, z, 2, "shortest_path")),
    (WLOptimalAssignment(3), lambda x, z: naive.optimal_assignment(x, z, 3)),
    (ShortestPath(), lambda x, z: naive.inner(naive.path_counts(x, x[2]), naive.path_counts(z, z[2]))),
    (VertexHistogram(), lambda x, z: naive.weisfeiler_lehman(x, z, 0, "subtree")),
    (EdgeHistogram(), lambda x, z: float(len(x[1]) * len(z[1]))),
    (RandomWalk(0.02), lambda x, z: naive.random_walk(x, z, 0.02, True)),
    (RandomWalk(0.02, labels=False), lambda x, z: naive.random_walk(x, z, 0.02, False)),
    (Graphlets(3), lambda x, z: naive.inner(naive.graphlets(x, 3), naive.graphlets(z, 3))),
    (Graphlets(4), lambda x, z: naive.inner(naive.graphlets(x, 4), naive.graphlets(z, 4))),
]
IDS = [f"{type(kernel).__name__}-{k}" for k, (kernel, _) in enumerate(KERNELS)]
ALONE = [kernel for kernel, _ in KERNELS]


def random_graphs(seed, n, labels="CO"):
    """Return random graphs (nodes, edges, labels), among them an empty, a lonely and a disconnected one."""
    rng = np.random.default_rng(seed)
    out = []
    for size in rng.integers(1, 9, size=n - 3).tolist():
        pairs = [(u, v) for u in range(size) for v in range(u + 1, size) if rng.random() < 0.35]
        out.append((size, pairs, rng.choice(list(labels), size=size).tolist()))
    lonely = (4, [(0, 1)], list("COCO"))
    return [*out, (0, [], []), (1, [], ["C"]), lonely]


def described(graphs):
    return [{"nodes": n, "edges": edges, "labels": labels} for n, edges, labels in graphs]


def close(values, truth):
    np.testing.assert_allclose(values, truth, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("kernel", "function"), KERNELS, ids=IDS)
def test_values_are_those_of_the_definition(kernel, function):
    X, Z = random_graphs(0, 11), random_graphs(1, 9, "CON")  # N is new
    truth = np.array([[function(x, z) for z in Z] for x in X])
    close(kernel(described(X), described(Z)), truth)
    close(kernel(described(Z), described(X)), truth.T)
    close(kernel(described(X)), [[function(x, z) for z in X] for x in X])
    close(kernel.diag(described(Z)), [function(z, z) for z in Z])


@pytest.mark.parametrize("kernel", ALONE, ids=IDS)
def test_blocks_order_and_copies(kernel):
    X = described(random_graphs(2, 14))
    K = kernel(X)
    order = np.random.default_rng(0).permutation(len(X))
    close(kernel([X[i] for i in order]), K[np.ix_(order, order)])
    prepared = kernel.prepare(kernel.check(X))
    few = kernel.take(prepared, [3, 1, 11])
    close(kernel.evaluate(few, prepared), K[[3, 1, 11]])
    others = described(random_graphs(3, 6, "CONS"))
    new = kernel.prepare(kernel.check(others), prepared)
    close(kernel.evaluate(new, few), kernel(others, [X[i] for i in (3, 1, 11)]))
    for copy in (pickle.loads(pickle.dumps(kernel)), clone(kernel), eval(repr(kernel), vars(mercer.kernels))):
        assert copy == kernel
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.trace(K)


@pytest.mark.parametrize("kernel", ALONE, ids=IDS)
def test_names_of_nodes_do_not_matter(kernel):
    rng = np.random.default_rng(4)
    X, shuffled = random_graphs(5, 9), []
    for n, edges, labels in X:
        new = rng.permutation(n)
        back = np.argsort(new)
        ends = [
            (int(new[v]), int(new[u])) if rng.random() < 0.5 else (int(new[u]), int(new[v])) for u, v in edges
        ]
        shuffled.append((n, ends, [labels[back[k]] for k in range(n)]))
    close(kernel(described(shuffled)), kernel(described(X)))


FEATURES = [k for k in ALONE if not isinstance(k, RandomWalk)]


@pytest.mark.parametrize("kernel", FEATURES, ids=lambda k: type(k).__name__)
def test_feature_maps_are_the_kernel(kernel):
    X, Z = described(random_graphs(6, 9)), described(random_graphs(7, 8, "CON"))
    fitted = kernel.feature_map(X)
    A, B = fitted.transform(kernel.check(X)), fitted.transform(kernel.check(Z))
    close((A @ B.T).toarray(), kernel(X, Z))
    close(fitted.squared_norms(kernel.check(Z)), kernel.diag(Z))
    assert len(fitted.names) == A.shape[1] == len(set(fitted.names))


def test_features_have_names():
    water = [([(0, 1), (1, 2)], ["H", "O", "H"])]
    assert WeisfeilerLehman(1).feature_map(water).names == ("H", "O", "H(O)", "O(H,H)")
    assert ShortestPath().feature_map(water).names == ("H 1 O", "H 2 H", "O 1 H")
    assert set(WLOptimalAssignment(0).feature_map(water).names) == {"1 H", "2 H", "1 O"}
    assert WeisfeilerLehman(0, "edge").feature_map(water).names == ("H-O .",)


def test_all_ways_to_write_a_graph():
    edges, labels = [(0, 1), (1, 2), (2, 3)], ["C", "O", "C", "N"]
    A = np.zeros((4, 4))
    for u, v in edges:
        A[u, v] = A[v, u] = 1.0
    around = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2]}
    forms = [
        (edges, labels),
        (edges, dict(enumerate(labels))),
        [edges, labels],
        (A, labels),
        (sp.csr_matrix(A), np.array(labels)),
        (around, labels),
        ({k: dict.fromkeys(v, 1.0) for k, v in around.items()}, dict(enumerate(labels))),
        ({(u, v) for u, v in edges} | {(v, u) for u, v in edges}, labels),
        {"edges": edges, "labels": labels},
        {"edges": np.array(edges), "labels": labels, "nodes": 4},
    ]
    for kernel in (WeisfeilerLehman(2), ShortestPath(), RandomWalk(0.05), EdgeHistogram()):
        K = kernel(forms)
        close(K, np.full_like(K, K[0, 0]))
        close(kernel([edges, A, sp.coo_matrix(A), around])[0], kernel([edges])[0, 0])


def test_graphs_of_networkx_and_igraph():
    nx, ig = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    ours = ([(0, 1), (1, 2)], ["C", "O", "C"], ["single", "double"])
    theirs = nx.Graph()
    theirs.add_nodes_from([("a", {"label": "C", "kind": 1}), ("b", {"label": "O", "kind": 2})])
    theirs.add_node("c", label="C", kind=1)
    theirs.add_edge("a", "b", label="single", length=2.0)
    theirs.add_edge("b", "c", label="double", length=3.0)
    other = ig.Graph(edges=ours[0])
    other.vs["label"], other.es["label"], other.vs["kind"] = ours[1], ours[2], [1, 2, 1]
    for kernel in (WeisfeilerLehman(2, "edge", edge_labels=True), EdgeHistogram(), ShortestPath()):
        written = [{"edges": ours[0], "labels": ours[1], "edge_labels": ours[2]}]
        close(kernel([theirs, other]), np.full((2, 2), kernel(written)[0, 0]))
    close(VertexHistogram(node_label="kind")([theirs, other]), VertexHistogram()([ours[:2]] * 2))
    paths = ShortestPath(node_label=None, weight="length").feature_map([theirs]).names
    assert set(paths) == {". 2 .", ". 3 .", ". 5 ."}
    theirs.nodes["a"]["half"] = 1
    with pytest.raises(ValueError, match=r"X\[0\] has no attribute 'half' at its node 'b'"):
        VertexHistogram(node_label="half")([theirs])


def test_lengths_of_edges():
    x = (4, [(0, 1), (1, 2), (2, 3), (0, 3)], list("abca"))
    weights = [1.0, 0.5, 2.5, 7.0]
    counts = naive.path_counts(x, x[2], weights)
    graph = {"edges": x[1], "labels": x[2], "weights": weights}
    close(ShortestPath()([graph]), [[naive.inner(counts, counts)]])


def test_directions_count():
    x, z = (3, [(0, 1), (1, 2)], list("CCC")), (3, [(0, 1), (2, 1)], list("CCC"))
    X = [{"edges": edges, "labels": labels, "directed": True} for _, edges, labels in (x, z)]
    undirected = [{**item, "directed": False} for item in X]
    close(WeisfeilerLehman(2)(undirected), np.full((2, 2), WeisfeilerLehman(2)(undirected)[0, 0]))
    K = WeisfeilerLehman(1)(X)
    assert K[0, 1] < min(K[0, 0], K[1, 1])
    truth = [[naive.random_walk(a, b, 0.3, True, directed=True) for b in (x, z)] for a in (x, z)]
    close(RandomWalk(0.3)(X), truth)
    assert ShortestPath()(X)[0, 0] == 2.0**2 + 1.0


def test_walks_that_never_end_are_refused():
    complete = [(u, v) for u in range(5) for v in range(u)]  # its largest eigenvalue is 4
    with pytest.raises(ValueError, match=r"decay=0.1 .* must be below 0.0625"):
        RandomWalk(0.1)([complete])
    close(RandomWalk(0.06)([complete]), [[25.0 / (1.0 - 0.06 * 16.0)]])


def test_samples_of_subgraphs_have_error_bars():
    rng = np.random.default_rng(0)
    edges = [(u, v) for u in range(25) for v in range(u) if rng.random() < 0.3]
    for size in (3, 4):
        exact, none = Graphlets(size).estimate([edges])
        counts, errors = Graphlets(size, samples=4000).estimate([edges])
        assert (none == 0).all()
        assert (np.abs(counts - exact) <= 5 * errors + 1e-9).all()
        np.testing.assert_allclose(counts.sum(), exact.sum())
    share = Graphlets(3, frequencies=True).estimate([edges])[0]
    np.testing.assert_allclose(share.sum(), 1.0)
    close(Graphlets(3, samples=50)([edges, edges])[0, 1], Graphlets(3, samples=50)([edges])[0, 0])


@pytest.mark.parametrize("size", [3, 4])
def test_connected_subgraphs_alone(size):
    networkx = pytest.importorskip("networkx")
    graphs = random_graphs(12, 12)
    kernel = Graphlets(size, connected=True)
    counts, errors = kernel.estimate(described(graphs))
    names = kernel.feature_map(described(graphs)).names
    assert len(names) == counts.shape[1] == errors.shape[1] == (2 if size == 3 else 6)
    for (n, edges, _), row in zip(graphs, counts, strict=True):
        graph = networkx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(edges)
        whole = (graph.subgraph(nodes) for nodes in itertools.combinations(range(n), size))
        assert row.sum() == sum(networkx.is_connected(part) for part in whole)
    close(kernel(described(graphs)), counts @ counts.T)
    every = Graphlets(size).estimate(described(graphs))[0]
    kept = [k for k, name in enumerate(Graphlets(size).feature_map(described(graphs)).names) if name in names]
    assert (every[:, kept] == counts).all()


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(3), RandomWalk(0.02), Graphlets(3)], ids=repr)
def test_machines_on_graphs(kernel, tmp_path):
    X = random_graphs(8, 40)
    y = np.array([len(edges) > 5 for _, edges, _ in X])
    X = described(X)
    kernel = kernel.normalized()
    asked = {"C": 10.0, "criterion": "gap", "tol": 1e-7}
    model = mercer.SVC(kernel=kernel, **asked).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certify(X, y).status == "optimal"
    twin = mercer.SVC(kernel="precomputed", **asked).fit(kernel(X), y)
    np.testing.assert_allclose(model.certificate_.primal, twin.certificate_.primal, rtol=1e-6)
    mercer.save(model, tmp_path / "graphs.mercer")
    same = mercer.load(tmp_path / "graphs.mercer")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), rtol=1e-12)


def test_refinements_are_searched():
    X = random_graphs(9, 40)
    y = np.array([len(edges) > 4 for _, edges, _ in X])
    search = GridSearchCV(mercer.SVC(kernel=WeisfeilerLehman()), {"kernel__h": [0, 2]}, cv=2)
    assert search.fit(described(X), y).best_params_["kernel__h"] in (0, 2)


def test_paths_between_vectors():
    rng = np.random.default_rng(0)
    graphs = random_graphs(10, 8)
    vectors = [rng.normal(size=(n, 2)) for n, _, _ in graphs]
    X = [{"nodes": g[0], "edges": g[1], "vectors": v} for g, v in zip(graphs, vectors, strict=True)]

    def paths(g, v):
        D = naive.distances(g)
        pairs = [(a, b) for a in range(g[0]) for b in range(g[0]) if a != b and D[a, b] < np.inf]
        return [(D[a, b], v[a], v[b]) for a, b in pairs]

    def value(one, two):
        return sum((a @ c) * (b @ d) for s, a, b in one for t, c, d in two if s == t)

    found = [paths(g, v) for g, v in zip(graphs, vectors, strict=True)]
    truth = np.array([[value(a, b) for b in found] for a in found])
    kernel = AttributedShortestPath()
    np.testing.assert_allclose(kernel(X), truth, rtol=1e-12, atol=1e-12 * np.abs(truth).max())
    np.testing.assert_allclose(kernel(X[:3], X), truth[:3], rtol=1e-12, atol=1e-12 * np.abs(truth).max())
    with pytest.raises(ValueError, match=r"X\[0\] has no vectors"):
        kernel([[(0, 1)]])


def test_heat_on_a_graph():
    A = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=float)
    kernel = Diffusion(A, beta=0.3)
    close(kernel([0, 2, 1]), expm(-0.3 * (np.diag(A.sum(axis=1)) - A))[np.ix_([0, 2, 1], [0, 2, 1])])
    close(kernel([2], [0, 1]), kernel([2, 0, 1])[:1, 1:])
    model = mercer.SVC(kernel=kernel).fit([0, 2, 0, 2], [0, 1, 0, 1])
    assert model.predict([0, 2]).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"X\[1\] is 3; the graph has the nodes 0 to 2"):
        kernel([0, 3])
    with pytest.raises(TypeError, match=r"X\[1\] is a str"):
        kernel([0, "a"])
    with pytest.raises(ValueError, match="adjacency"):
        Diffusion(np.triu(A))([0])


def test_a_large_graph():
    n = 20_000
    rng = np.random.default_rng(0)
    graph = {"edges": rng.integers(0, n, size=(2 * n, 2)), "labels": ["a"] * n}
    path = {"edges": np.column_stack([np.arange(n - 1), np.arange(1, n)]), "labels": ["a"] * n}
    K = WeisfeilerLehman(2)([graph, path])
    assert K[1, 1] == n**2 + (2**2 + (n - 2) ** 2) + (2**2 + 2**2 + (n - 4) ** 2)
    assert K[0, 1] <= np.sqrt(K[0, 0] * K[1, 1])


@pytest.mark.parametrize(
    ("kernel", "data", "message"),
    [
        (WeisfeilerLehman(), [[(0, 1)], None], r"X\[1\] is missing \(None\)"),
        (WeisfeilerLehman(), [[(0, 1)], 3], r"X\[1\] is a int; a graph kernel compares graphs"),
        (WeisfeilerLehman(), ["ab"], r"X\[0\] is a str"),
        (WeisfeilerLehman(), [np.ones((2, 3))], r"X\[0\] is a matrix of shape \(2, 3\)"),
        (WeisfeilerLehman(), [([(0, 1)], ["a"])], r"X\[0\] has 2 nodes, but 1 labels"),
        (WeisfeilerLehman(), [([(0, 1)], {0: "a"})], r"X\[0\] has no label for its node 1"),
        (
            WeisfeilerLehman(),
            [{"edges": [(0, 5)], "nodes": 3}],
            r"X\[0\] has 3 nodes, but an edge with node 5",
        ),
        (WeisfeilerLehman(), [{"edges": [], "colour": 3}], r"X\[0\] is a dictionary with the key 'colour'"),
        (WeisfeilerLehman(), [([(0, 1)], [{}, {}])], r"X\[0\] has a node whose label is a dict"),
        (ShortestPath(), [{"edges": [(0, 1)], "weights": [-1.0]}], r"X\[0\] has an edge of negative weight"),
        (WeisfeilerLehman().normalized(), [[(0, 1)], None], r"X\[1\] is missing"),
        (WeisfeilerLehman(), [], "0 sample"),
        (WeisfeilerLehman(-1), [[(0, 1)]], "h=-1"),
        (WeisfeilerLehman(1, "path"), [[(0, 1)]], "base='path'"),
        (RandomWalk(0.0), [[(0, 1)]], "decay=0.0"),
        (Graphlets(5), [[(0, 1)]], "size=5"),
    ],
)
def test_what_is_wrong_is_named(kernel, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernel(data)
