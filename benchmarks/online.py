"""A long stream at a bounded memory: 10^5 steps of 20 features at a budget of 1000, and a peer.

Run as ``python -m benchmarks.online``. Each machine learns the same stream, in turns, from the same start;
times are processor time, the smallest of several runs with the largest beside it. scikit-learn has no kernel
machine that learns from a stream, so its linear ``Perceptron`` stands beside the primal one.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Perceptron as SklearnPerceptron

from mercer import KernelAdatron, KernelPerceptron, KernelWidrowHoff, OnlineSVR, Perceptron
from mercer.kernels import RBF, Laplacian

MACHINES = {
    "Perceptron (primal)": Perceptron(),
    "KernelPerceptron, rbf": KernelPerceptron(kernel=RBF(0.05)),
    "KernelPerceptron, rbf, oldest": KernelPerceptron(kernel=RBF(0.05), removal="oldest"),
    "KernelPerceptron, linear": KernelPerceptron(kernel="linear"),
    "KernelPerceptron, laplacian": KernelPerceptron(kernel=Laplacian(0.05)),
    "KernelAdatron, rbf": KernelAdatron(kernel=RBF(0.05)),
    "OnlineSVR, rbf": OnlineSVR(kernel=RBF(0.05)),
    "KernelWidrowHoff, rbf": KernelWidrowHoff(kernel=RBF(0.05), learning_rate=0.5),
}


def stream(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    values = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    return X, (values > 0).astype(int), values


def learn(model, X, y, batch):
    start = time.process_time()
    more = {"classes": [0, 1]} if hasattr(model, "decision_function") else {}
    for at in range(0, len(X), batch):
        model.partial_fit(X[at : at + batch], y[at : at + batch], **more)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=10_000, help="examples per call of partial_fit")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    X, labels, values = stream(options.steps, options.features)
    times = {name: [] for name in (*MACHINES, "scikit-learn Perceptron")}
    ends = {}
    for model in MACHINES.values():  # compile before the clock starts
        y = labels if hasattr(model, "decision_function") else values
        learn(clone(model), X[:200], y[:200], 100)
    for _ in range(options.rounds):
        for name, machine in MACHINES.items():
            model = clone(machine)
            if "budget" in model.get_params():
                model.set_params(budget=options.budget)
            y = labels if hasattr(model, "decision_function") else values
            times[name].append(learn(model, X, y, options.batch))
            kept = getattr(model, "n_support_", None)
            assert kept is None or kept <= options.budget
            ends[name] = f"mistakes {model.mistakes_:7d}" + ("" if kept is None else f"   kept {kept}")
        theirs = SklearnPerceptron(shuffle=False)
        times["scikit-learn Perceptron"].append(learn(theirs, X, labels, options.batch))
        ends["scikit-learn Perceptron"] = ""
    print(f"{options.steps} steps, {options.features} features, budget {options.budget}")
    for name, spent in times.items():
        per_step = 1e6 * min(spent) / options.steps
        print(
            f"{name:32} {min(spent):7.2f} s (to {max(spent):.2f})   {per_step:6.2f} us a step   {ends[name]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
