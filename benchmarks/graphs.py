"""Graph kernels beside GraKeL's, in one run, and what they are worth for molecules.

Run as ``python -m benchmarks.graphs --data FOLDER``, a folder with ``MUTAG.tgz`` and ``PTC.tgz`` (188 and 344
labelled graphs, 2 classes, with ten folds). Processor seconds for the whole kernel matrix, the least of some
rounds; values must agree. Random walks of GraKeL are timed on some graphs, and given for a pair.
``--accuracy`` adds ten-fold cross-validation, h and C chosen inside each fold.
"""

from __future__ import annotations

import argparse
import tarfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import mercer
from mercer.kernels import Graphlets, RandomWalk, ShortestPath, WeisfeilerLehman, WLOptimalAssignment

FEW = 12  # graphs for what would take the peer minutes


def molecules(path):
    """Return graphs, classes and the folds' test indices."""
    with tarfile.open(path) as archive:
        files = {Path(m.name).name: archive.extractfile(m).read().decode() for m in archive if m.isfile()}
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
        "graphlets of 3": (Graphlets(3), lambda: GraphletSampling(k=3), None),
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


def accuracy(name, X, y, folds):
    right = []
    for k, test in enumerate(folds):
        train = np.setdiff1d(np.arange(len(X)), test)
        search = GridSearchCV(
            mercer.SVC(kernel=WeisfeilerLehman().normalized()),
            {"kernel__kernel__h": [1, 2, 3, 4], "C": [0.1, 1.0, 10.0, 100.0]},
            cv=StratifiedKFold(5, shuffle=True, random_state=k),
        )
        search.fit([X[i] for i in train], y[train])
        right.append(search.score([X[i] for i in test], y[test]))
    print(f"  accuracy of Weisfeiler-Lehman: {100 * np.mean(right):.1f} +- {100 * np.std(right):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["MUTAG", "PTC"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--accuracy", action="store_true", help="cross-validation only")
    options = parser.parse_args()
    for name in options.sets:
        X, y, folds = molecules(options.data / f"{name}.tgz")
        if options.accuracy:
            print(f"{name}: {len(X)} graphs")
            accuracy(name, X, y, folds)
        else:
            compare(name, X, options.rounds)


if __name__ == "__main__":
    main()
