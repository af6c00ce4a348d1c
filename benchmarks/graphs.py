"""Graph kernels beside GraKeL's, in one run, and what they are worth for molecules.

Run as ``python -m benchmarks.graphs --data FOLDER``, a folder with ``MUTAG.tgz`` and ``PTC.tgz`` (188 and 344
labelled graphs, 2 classes, with ten folds). Processor seconds for the whole kernel matrix, the least of some
rounds; values must agree. Random walks of GraKeL are timed on some graphs, and given for a pair. Its
graphlets differ by some percent: it counts two connected subgraphs of three nodes in a triangle with a tail,
which has three.
``--accuracy`` adds ten-fold cross-validation, h and C chosen inside each fold.
"""

from __future__ import annotations

import argparse
import tarfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

import mercer
from mercer.kernels import Graphlets, RandomWalk, ShortestPath, WeisfeilerLehman, WLOptimalAssignment

REFINEMENTS = range(6)
PRICES = 10.0 ** np.arange(-3, 4)
FEW = 12  # graphs for what would take the peer minutes


def molecules(path):
    """Return graphs, classes and the folds' test indices."""
    with tarfile.open(path) as archive:
        files = {
            Path(m.name).name: archive.extractfile(m).read().decode("utf-8", "replace")
            for m in archive
            if m.isfile()
        }
    lines = iter(files[f"{path.stem}.txt"].splitlines())
    X, y = [], []
    for _ in range(int(next(lines))):
        n, target = map(int, next(lines).split())
        labels, edges = [], []
        for node in range(n):
            label, _, *around = map(int, next(lines).split())
            labels.append(label)
            edges += [(node, other) for other in around if node < other]
        X.append({"nodes": n, "edges": edges, "labels": labels})
        y.append(target)
    folds = [np.array(files[f"test_idx-{k}.txt"].split(), dtype=int) for k in range(1, 11)]
    return X, np.array(y), folds


def theirs(X):
    """Return graphs as GraKeL takes them."""
    from grakel import Graph

    out = []
    for graph in X:
        edges = [pair for u, v in graph["edges"] for pair in ((u, v), (v, u))]
        out.append(Graph(dict.fromkeys(edges, 1.0), node_labels=dict(enumerate(graph["labels"]))))
    return out


def least(function, rounds):
    """Return a value and the least processor time of some calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        value = function()
        times.append(time.process_time() - start)
    return value, min(times)


def peers():
    """Return ours and theirs by name, and how many graphs theirs can take."""
    from grakel.kernels import GraphletSampling
    from grakel.kernels import RandomWalk as Walk
    from grakel.kernels import ShortestPath as Shortest
    from grakel.kernels import VertexHistogram as Histogram
    from grakel.kernels import WeisfeilerLehman as Refined
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment as Assigned

    return {
        "Weisfeiler-Lehman, h = 5": (
            WeisfeilerLehman(5), lambda: Refined(n_iter=5, base_graph_kernel=Histogram), None),
        "optimal assignment, h = 5": (WLOptimalAssignment(5), lambda: Assigned(n_iter=5), None),
        "shortest path": (ShortestPath(), lambda: Shortest(with_labels=True), None),
        "random walk, decay 0.01": (
            RandomWalk(0.01, labels=False), lambda: Walk(lamda=0.01, method_type="baseline"), FEW),
        "connected graphlets of 3": (Graphlets(3, connected=True), lambda: GraphletSampling(k=3), None),
    }  # fmt: skip


def compare(name, X, rounds):
    print(f"{name}: {len(X)} graphs")
    parsed = theirs(X)
    for what, (kernel, make, few) in peers().items():
        items = kernel.check(X)
        kernel(items[:3])  # compile
        ours, mine = least(lambda kernel=kernel, items=items: kernel(items), max(rounds, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = parsed[:few]
            other, peer = least(lambda make=make, part=part: make().fit_transform(part), 1 if few else rounds)
        if few:
            mine /= len(X) * (len(X) + 1) / 2
            peer /= few * (few + 1) / 2
        same = np.abs(ours[: len(part), : len(part)] - other).max() / np.abs(other).max()
        unit, scale = ("us a pair", 1e6) if few else ("s", 1.0)
        print(
            f"  {what:28} ours {mine * scale:9.4g} {unit}, GraKeL {peer * scale:9.4g} {unit}, "
            f"{peer / mine:6.1f} times; largest difference {same:.1e}"
        )


def chosen(matrices, y, train, seed):
    """Return the matrix and the C that are best in cross-validation on the training graphs."""
    inside = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(train, y[train]))
    best = (-1.0, None, None)
    for K in matrices:
        for C in PRICES:
            right = 0
            for fit, held in inside:
                rows, test = train[fit], train[held]
                model = mercer.SVC(kernel="precomputed", C=C).fit(K[np.ix_(rows, rows)], y[rows])
                right += int((model.predict(K[np.ix_(test, rows)]) == y[test]).sum())
            if right > best[0]:
                best = (right, K, C)
    return best[1:]


def accuracy(name, X, y, folds, repeats):
    """Print the mean accuracy of ten folds, as given and as drawn; h and C are chosen inside each of them."""
    matrices = [WeisfeilerLehman(h).normalized()(X) for h in REFINEMENTS]
    every = np.arange(len(X))
    drawn = [
        [test for _, test in StratifiedKFold(10, shuffle=True, random_state=r).split(X, y)]
        for r in range(repeats)
    ]
    means = []
    for r, tests in enumerate([folds, *drawn]):
        right = []
        for k, test in enumerate(tests):
            train = np.setdiff1d(every, test)
            K, C = chosen(matrices, y, train, 10 * r + k)
            model = mercer.SVC(kernel="precomputed", C=C).fit(K[np.ix_(train, train)], y[train])
            right.append(100 * (model.predict(K[np.ix_(test, train)]) == y[test]).mean())
        if r == 0:
            print(
                f"  Weisfeiler-Lehman, the folds of the file: {np.mean(right):.1f} +- {np.std(right):.1f} %"
            )
        else:
            means.append(np.mean(right))
    if means:
        print(f"  {repeats} times ten random folds: {np.mean(means):.1f} +- {np.std(means):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["MUTAG", "PTC"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--accuracy", action="store_true", help="cross-validation only")
    parser.add_argument("--repeats", type=int, default=10, help="of ten random folds")
    options = parser.parse_args()
    for name in options.sets:
        X, y, folds = molecules(options.data / f"{name}.tgz")
        if options.accuracy:
            print(f"{name}: {len(X)} graphs")
            accuracy(name, X, y, folds, options.repeats)
        else:
            compare(name, X, options.rounds)


if __name__ == "__main__":
    main()
