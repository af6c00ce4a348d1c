"""Time series: global alignments beside tslearn's, in one run, and how well they classify.

Run as ``python -m benchmarks.series --data FOLDER``, a folder with ``GunPoint.tgz`` and ``ArrowHead.tgz``
(the UCR archive's ``.ts`` files). Both compute the kernel matrix of the test and the training part, taking
turns; the values must agree. Times are processor times of all threads, and a ratio is that of one round.
``--accuracy`` fits machines on the training part, width and C chosen there, and scores them on the published
test part.
"""

from __future__ import annotations

import argparse
import tarfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import mercer
from benchmarks.stats import paired_ratios, spread
from mercer.kernels import DTW, GlobalAlignment

AT_LEAST = 3.0


def parts(path):
    """Return series and classes of the training part, and of the test part."""
    found = []
    with tarfile.open(path) as archive:
        for part in ("TRAIN", "TEST"):
            text = archive.extractfile(f"{path.stem}/{path.stem}_{part}.ts").read().decode("utf-8", "replace")
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            rows = [line.rsplit(":", 1) for line in lines if line[0] not in "#@"]
            series = np.array([[float(value) for value in values.split(",")] for values, _ in rows])
            found += [series, np.array([label for _, label in rows])]
    return found


def timed(function):
    """Return a value, the processor time and the time on the wall."""
    wall, processor = time.perf_counter(), time.process_time()
    value = function()
    return value, time.process_time() - processor, time.perf_counter() - wall


def compare(name, X, Z, rounds):
    """Print what the kernel matrix of test and training part costs."""
    from tslearn.metrics import cdist_gak

    sigma = float(GlobalAlignment().resolve(X).sigma)
    ours, theirs = GlobalAlignment(sigma), lambda a, b: cdist_gak(a, b, sigma=sigma)
    ours(Z[:9], X[:3]), theirs(Z[:3], X[:3])  # both compile
    mine, peer, walls, peer_walls = {}, {}, [], []
    for r in range(rounds):
        K, mine[r], wall = timed(lambda: ours(Z, X))
        truth, peer[r], peer_wall = timed(lambda: theirs(Z[:, :, None], X[:, :, None]))
        walls.append(wall)
        peer_walls.append(peer_wall)
        np.testing.assert_allclose(K, truth, rtol=1e-10)
    ratios = spread(paired_ratios(peer, mine))
    cells = 1e-9 * X.shape[0] * Z.shape[0] * X.shape[1] * Z.shape[1]
    print(
        f"{name}: {len(Z)} x {len(X)} series of {X.shape[1]} times\n"
        f"  global alignment  tslearn {min(peer.values()):6.3f} s "
        f"({min(peer.values()) / cells:5.2f} ns a cell, "
        f"{min(peer_walls):.3f} s on the wall)  ours {min(mine.values()):6.3f} s "
        f"({min(mine.values()) / cells:5.2f} ns, {min(walls):.3f} s)  {ratios} times"
        f"{'' if ratios.median >= AT_LEAST else '  MISSED'}"
    )


def accuracy(X, y, Z, t):
    """Print the accuracies on the test part of machines that were chosen on the training part."""
    width = float(GlobalAlignment().resolve(X).sigma)
    gamma = float(DTW().resolve(X).gamma)
    length = X.shape[1]
    tried = {
        "GlobalAlignment": (GlobalAlignment(), {"sigma": [f * width for f in (0.03, 0.1, 0.3, 1.0, 3.0)]}),
        "GlobalAlignment, triangular": (
            GlobalAlignment(),
            {"sigma": [f * width for f in (0.1, 0.3, 1.0)], "triangular": [length // 10, length // 4]},
        ),
        "DTW, clipped": (
            DTW(window=length // 10).clipped(),
            {"kernel__gamma": [f * gamma for f in (0.3, 1.0, 3.0)]},
        ),
    }
    for name, (kernel, grid) in tried.items():
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        grid = {f"kernel__{key}": values for key, values in grid.items()} | {"C": [1.0, 10.0, 100.0]}
        search = GridSearchCV(mercer.SVC(kernel=kernel), grid, cv=folds).fit(X, y)
        print(f"  {name:28} accuracy {search.score(Z, t):.3f}, chosen {search.best_params_}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["GunPoint", "ArrowHead"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--accuracy", action="store_true", help="accuracies instead of times")
    options = parser.parse_args()
    for name in options.sets:
        X, y, Z, t = parts(options.data / f"{name}.tgz")
        if options.accuracy:
            print(f"{name}: {len(X)} / {len(Z)} series")
            accuracy(X, y, Z, t)
        else:
            compare(name, X, Z, options.rounds)


if __name__ == "__main__":
    main()
