"""Kernel PCA of 20000 points against scikit-learn: processor time, memory, agreement.

Each fit runs in a process of its own, one after the other and in turns: ``python benchmarks/kernel_pca.py``.
Processor time is what a loaded machine leaves comparable. scikit-learn forms the kernel matrix (3.2 GB).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

GAMMA = 0.05


def data(n: int) -> np.ndarray:
    X, _ = make_classification(n, 20, n_informative=10, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def fit(who: str, n: int, k: int, target: Path) -> dict[str, float]:
    """Fit in this process; what is compiled or loaded on first use is paid for before the clock starts."""
    X = data(n)
    if who == "mercer":
        from mercer import KernelPCA

        KernelPCA(
            n_components=2, kernel="rbf", eigen_solver="randomized", cache_size=1, precision="single"
        ).fit(X[:1500])
        model = KernelPCA(n_components=k, kernel="rbf", gamma=GAMMA, random_state=0)
    else:
        from sklearn.decomposition import KernelPCA

        KernelPCA(n_components=2, kernel="rbf").fit(X[:300])
        model = KernelPCA(n_components=k, kernel="rbf", gamma=GAMMA, eigen_solver=who, random_state=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    Z = model.fit_transform(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.save(target, Z)
    return {"cpu": cpu, "wall": wall, "mb": (after - before) / 1024}


def child(who: str, n: int, k: int, target: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", who, "-n", str(n), "-k", str(k), "--target", str(target)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=20000, help="points")
    parser.add_argument("-k", type=int, default=10, help="components")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(fit(args.child, args.n, args.k, args.target)))
        return
    rivals = ("mercer", "arpack", "randomized")
    runs: dict[str, list[dict[str, float]]] = {who: [] for who in rivals}
    with tempfile.TemporaryDirectory() as folder:
        files = {who: Path(folder) / f"{who}.npy" for who in rivals}
        for _ in range(args.repeats):
            for who in rivals:
                runs[who].append(child(who, args.n, args.k, files[who]))
        exact = np.load(files["arpack"])
        print(f"{args.n} points, {args.k} components; medians of {args.repeats}")
        print(f"{'':24}{'cpu s':>8}{'wall s':>8}{'more MB':>9}   largest difference from arpack")
        for who in rivals:
            name = "mercer" if who == "mercer" else f"scikit-learn {who}"
            cpu, wall, mb = (
                float(np.median([run[key] for run in runs[who]])) for key in ("cpu", "wall", "mb")
            )
            Z = np.load(files[who])
            off = float(np.abs(Z * np.sign((Z * exact).sum(axis=0)) - exact).max())
            print(f"{name:24}{cpu:8.1f}{wall:8.1f}{mb:9.0f}   {off:.1e}")


if __name__ == "__main__":
    main()
