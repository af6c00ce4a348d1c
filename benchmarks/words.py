"""Handwritten words: labels of chains beside letters that are read one by one.

Run as ``python -m benchmarks.words --data FOLDER``, a folder with ``letters_ocr.npz``: letters of 8 x 16
pixels (``pixels``, 0 or 1) in words (``lengths``), their ``labels`` from 0 to 25 and the words' ``folds``.
As in the published comparison, machines are trained on one fold and tested on the rest, and the reverse.
Accuracies are of letters. ``--qp`` times one-slack cutting planes whose quadratic problems a general solver
(Clarabel) solves, ``--pystruct`` that library, where they are installed; all stop at the same relative gap.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np

from mercer import StructuredSVM
from mercer.structured import Chain, CostSensitive
from mercer.threads import Workers, resolve_threads


def read(folder):
    """Return the words' pixels, labels and folds."""
    table = np.load(folder / "letters_ocr.npz")
    ends = np.concatenate([[0], np.cumsum(table["lengths"])])
    spans = list(itertools.pairwise(ends))
    X = [table["pixels"][a:b].astype(np.float64) for a, b in spans]
    return X, [table["labels"][a:b].astype(np.int64) for a, b in spans], table["folds"]


def fitted(structure, X, y, C, options, solver="auto"):
    """Return a machine and the seconds that its fit took."""
    model = StructuredSVM(structure, C=C, tol=options.tol, solver=solver, time_limit=options.seconds)
    start = time.perf_counter()
    model.fit(X, y)
    return model, time.perf_counter() - start


def letters(X, Y):
    return np.concatenate(X), np.concatenate(Y)


def report(name, model, seconds, X, y):
    proof = model.certificate_
    print(
        f"  {name:28s} {100 * model.score(X, y):5.1f} % of test letters   {seconds:7.1f} s   "
        f"gap {100 * proof.relative_gap:.2f} %   passes {proof.n_iter}   primal {proof.primal:.4g}   "
        f"{proof.status}",
        flush=True,
    )


def by_general_solver(X, Y, C, options):
    """Train chains by one-slack cutting planes whose quadratic problems Clarabel solves; return w and gap."""
    import clarabel
    import scipy.sparse as sp

    chain = Chain(n_labels=26)
    inputs = chain.checked_inputs(X)
    outputs = chain.checked_outputs(inputs, Y)
    chain = chain.resolve(inputs, outputs)
    examples = chain.examples(inputs, outputs, Workers(resolve_threads(None)))
    rows, start = np.arange(len(X)), time.perf_counter()
    normals, offsets = np.zeros((1, examples.width)), np.zeros(1)
    w, primal, dual, passes = np.zeros(examples.width), np.inf, -np.inf, 0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    while (primal - dual) > options.tol * max(
        abs(primal), abs(dual)
    ) and time.perf_counter() - start < options.seconds:
        found, values, _ = examples.worst(rows, w)
        primal = min(primal, 0.5 * w @ w + C * np.maximum(values, 0.0).sum())
        table, losses = examples.differences(rows, found)
        normals = np.vstack([normals, C * np.asarray(table.sum(axis=0)).ravel()])
        offsets = np.append(offsets, C * losses.sum())
        m = offsets.size
        A = sp.csc_matrix(np.vstack([np.ones((1, m)), -np.eye(m)]))
        b = np.concatenate([[1.0], np.zeros(m)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(m)]
        Q = sp.csc_matrix(np.triu(normals @ normals.T))
        a = np.array(clarabel.DefaultSolver(Q, -offsets, A, b, cones, settings).solve().x)
        a = np.maximum(a, 0.0) / np.maximum(a, 0.0).sum()
        w = a @ normals
        dual, passes = offsets @ a - 0.5 * w @ w, passes + 1
    return primal, dual, passes, time.perf_counter() - start


def by_pystruct(X, Y, C, options):
    """Train chains by pystruct's block-coordinate Frank-Wolfe; return the primal and the seconds."""
    from pystruct.learners import FrankWolfeSSVM
    from pystruct.models import ChainCRF

    model = FrankWolfeSSVM(ChainCRF(26, X[0].shape[1], directed=True), C=C, tol=options.tol, max_iter=1000)
    start = time.perf_counter()
    model.fit(X, Y)
    return float(model.primal_objective_curve_[-1]), time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--setting", nargs="+", choices=("one", "rest"), default=["one", "rest"])
    parser.add_argument("--C", type=float, default=0.1, help="of chains")
    parser.add_argument("--C-letters", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=0.01, help="relative gap")
    parser.add_argument("--seconds", type=float, default=200.0, help="at most, for each fit")
    parser.add_argument("--solvers", nargs="*", default=["block_frank_wolfe"])
    parser.add_argument("--qp", action="store_true")
    parser.add_argument("--pystruct", action="store_true")
    options = parser.parse_args()
    X, Y, folds = read(options.data)
    fitted(Chain(n_labels=26), X[:20], Y[:20], 1.0, options)  # compile
    fitted(CostSensitive(), *letters(X[:20], Y[:20]), 1.0, options)
    for setting in options.setting:
        inside = (folds == options.fold) == (setting == "one")
        train, test = np.flatnonzero(inside), np.flatnonzero(~inside)
        Xa, Ya, Xb, Yb = ([part[i] for i in rows] for rows in (train, test) for part in (X, Y))
        print(f"trained on {len(Xa)} words, tested on {len(Xb)}")
        report("letters one by one", *fitted(CostSensitive(), *letters(Xa, Ya), options.C_letters, options),
               *letters(Xb, Yb))  # fmt: skip
        for solver in options.solvers:
            report(f"chains, {solver}", *fitted(Chain(), Xa, Ya, options.C, options, solver), Xb, Yb)
        if options.qp:
            primal, dual, passes, seconds = by_general_solver(Xa, Ya, options.C, options)
            print(
                f"  chains, general QP solver  {seconds:7.1f} s   gap {100 * (1 - dual / primal):.2f} %   "
                f"passes {passes}   primal {primal:.4g}"
            )
        if options.pystruct:
            primal, seconds = by_pystruct(Xa, Ya, options.C, options)
            print(f"  chains, pystruct             {seconds:7.1f} s   primal {primal:.4g}")


if __name__ == "__main__":
    main()
