"""String kernels: mercer against strkernels, scikit-learn's CountVectorizer and, where R has it, kernlab.

``python -m benchmarks.strings [--data FOLDER] [--items 2200] [--slow-items 150] [--rounds 5]``

All are run in one process, taking turns, on the same items, and their values are compared first. Times are
processor times (of all threads), the peer's and ours of one round make a ratio. Peers that cost far more than
ours are given fewer items; a pair costs the same. Without ``--data`` the items are random DNA of 82 letters.

With ``--data`` (``strings/promotergene.csv.gz``, ``strings/c_elegans_acceptor.csv.gz`` and
``reference/strings_promoter_*.npz`` in it), values are compared with the stored ones, too, and machines are
tried on both data sets: errors of leaving one out for the promoters, five folds for the splice acceptors.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.stats import paired_ratios, spread
from mercer.kernels import (
    AllSubstrings,
    BlendedSpectrum,
    Kernel,
    Mismatch,
    Spectrum,
    Subsequence,
    WeightedDegree,
)

Matrix = Callable[[list[str]], np.ndarray]


@dataclass(frozen=True)
class Case:
    """One comparison: what is computed, by whom, on how many items, and what is asked for."""

    name: str
    kernel: Kernel
    peer: str
    theirs: Matrix
    slow: bool
    at_most: float


def random_dna(n: int, length: int = 82) -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(row) for row in rng.choice(list("ACGT"), size=(n, length))]


def acceptors(folder: Path) -> tuple[list[str], np.ndarray]:
    """Return splice acceptor sites of C. elegans and decoys."""
    with gzip.open(folder / "strings" / "c_elegans_acceptor.csv.gz", "rt") as file:
        rows = list(csv.reader(file))
    return [row[1] for row in rows], np.array([float(row[0]) for row in rows])


def promoters(folder: Path) -> tuple[list[str], np.ndarray]:
    """Return promoters of E. coli and other stretches."""
    with gzip.open(folder / "strings" / "promotergene.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    return ["".join(row[1:]).upper() for row in rows], np.array([row[0] for row in rows])


def counted(k: int) -> Matrix:
    from sklearn.feature_extraction.text import CountVectorizer

    def matrix(items: list[str]) -> np.ndarray:
        vectorizer = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False, dtype=np.float64)
        counts = vectorizer.fit_transform(items)
        return (counts @ counts.T).toarray()

    return matrix


def strkernels(name: str, factor: float = 1.0, **options: float) -> Matrix:
    import strkernels as library

    made = getattr(library, name)(normalizer=None, **options)
    return lambda items: factor * made(items, items)


def kernlab(options: str) -> Matrix:
    """Return what computes a matrix in a process of R; the clock of this process does not see it.

    The items are to end with a line feed: kernlab ends every string with one, which counts as a letter.
    """
    script = (
        f"library(kernlab); x <- as.list(readLines('items')); k <- stringdot({options}, normalized=FALSE); "
    )
    script += "t <- system.time(K <- kernelMatrix(k, x)); write(c(t[['user.self']], K), 'matrix', ncolumns=1)"

    def matrix(items: list[str]) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "items").write_text("".join(items))
            subprocess.run(["Rscript", "-e", script], cwd=folder, check=True, capture_output=True)
            seconds, *values = map(float, (Path(folder) / "matrix").read_text().split())
        matrix.seconds = seconds  # type: ignore[attr-defined]
        return np.array(values).reshape(len(items), len(items))

    return matrix


def has_kernlab() -> bool:
    if shutil.which("Rscript") is None:
        return False
    asked = subprocess.run(["Rscript", "-e", "library(kernlab)"], capture_output=True, check=False)
    return asked.returncode == 0


def cases() -> list[Case]:
    """Return the comparisons that can be made here."""
    found = [
        Case(f"spectrum, k = {k}", Spectrum(k), "CountVectorizer", counted(k), False, 0.5) for k in (3, 5, 8)
    ]
    try:
        import strkernels as _  # noqa: F401
    except ImportError:
        print("strkernels is not installed: no comparison with it")
    else:
        found += [
            Case(
                f"subsequences up to {n}, decay 0.5", Subsequence(n, 0.5), "strkernels",
                strkernels("SubsequenceStringKernel", maxlen=n, ssk_lambda=0.5), True, 0.25,
            )
            for n in (3, 5)
        ]  # fmt: skip
        # Its weights are whole numbers, ours sum to one.
        found.append(
            Case(
                "weighted degree 5", WeightedDegree(5), "strkernels",
                strkernels("WeightedDegreeStringKernel", factor=1 / 15, degree=5), False, 0.25,
            )
        )  # fmt: skip
        found.append(
            Case(
                "blended spectrum, k = 3", BlendedSpectrum(3), "strkernels",
                strkernels("SpectrumStringKernel", order=3), True, 0.25,
            )
        )  # fmt: skip
    if has_kernlab():
        found += [
            Case("all substrings", AllSubstrings(), "kernlab", kernlab("type='constant'"), True, 0.1),
            Case(
                "substrings up to 5", AllSubstrings("bounded", most=5), "kernlab",
                kernlab("type='boundrange', length=5"), True, 0.1,
            ),
            Case("spectrum, k = 5", Spectrum(5), "kernlab", kernlab("type='spectrum', length=5"), True, 0.1),
        ]  # fmt: skip
    else:
        print("R with kernlab is not installed: no comparison with it")
    return found


def timed(work: Callable[[], np.ndarray], clock: object = None) -> tuple[float, float, np.ndarray]:
    """Return processor time, time on the wall, and the matrix."""
    wall, processor = time.perf_counter(), time.process_time()
    matrix = work()
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    return getattr(clock, "seconds", processor), wall, matrix


def compare(case: Case, items: list[str], rounds: int) -> None:
    """Print what both cost."""
    case.kernel(items[:20])  # compiles
    mine: dict[int, float] = {}
    theirs: dict[int, float] = {}
    walls = []
    for r in range(rounds):
        mine[r], wall, K = timed(lambda: case.kernel(items))
        walls.append(wall)
        theirs[r], _, truth = timed(lambda: case.theirs(items), case.theirs)
        np.testing.assert_allclose(K, truth, rtol=1e-10, atol=1e-9)
    ratios = spread(paired_ratios(mine, theirs))
    n = len(items)
    assert ratios is not None
    pair = 1e6 / (n * (n + 1) / 2)
    verdict = "" if ratios.median <= case.at_most else "  MISSED"
    print(
        f"{case.name:28s} {n:5d} items  {case.peer} {min(theirs.values()):8.3f} s "
        f"({min(theirs.values()) * pair:7.2f} us a pair)  ours {min(mine.values()):7.3f} s "
        f"({min(mine.values()) * pair:6.2f} us, {min(walls):.3f} s on the wall)  "
        f"ratio {ratios}, at most {case.at_most}{verdict}"
    )


def alone(items: list[str], rounds: int) -> None:
    """Print what ours cost where there is no peer."""
    n = len(items)
    for kernel in (Mismatch(5, 1, "ACGT"), AllSubstrings()):
        kernel(items[:20])
        seconds = [timed(lambda k=kernel: k(items))[0] for _ in range(rounds)]
        shown = spread([1e6 * s / (n * (n + 1) / 2) for s in seconds])
        print(f"{kernel!r:60s} {n:5d} items  {min(seconds):7.3f} s, {shown} us a pair")


def stored_values(folder: Path) -> None:
    """Compare with matrices that others have computed."""
    items, _ = promoters(folder)
    naive = np.load(folder / "reference" / "strings_promoter_ref.npz")
    peer = np.load(folder / "reference" / "strings_promoter_strkernels.npz")
    checks: list[tuple[str, np.ndarray, np.ndarray]] = [
        ("spectrum 3", Spectrum(3)(items), naive["spectrum3"]),
        ("spectrum 5", Spectrum(5)(items), naive["spectrum5"]),
        ("blended 3", BlendedSpectrum(3)(items), naive["blended3"]),
        ("all substrings", AllSubstrings()(items), naive["allsub"]),
        ("mismatch 5, 1", Mismatch(5, 1, "ACGT")(items), naive["mismatch51"]),
        ("mismatch 3, 1", Mismatch(3, 1, "ACGT")(items), naive["mismatch31"]),
        ("mismatch 5, 2", Mismatch(5, 2, "ACGT")(items), naive["mismatch52"]),
        ("blended 3, strkernels", BlendedSpectrum(3)(items), peer["spectrum3_blended"]),
        ("the same, normalised", BlendedSpectrum(3).normalized()(items), peer["spectrum3_blended_norm"]),
        ("weighted degree 5", 15 * WeightedDegree(5)(items), peer["wd_degree5"]),
        ("the same, normalised", WeightedDegree(5).normalized()(items), peer["wd_degree5_norm"]),
        ("subsequences 3", Subsequence(3, 0.5)(items), peer["subseq_1to3_lam0.5"]),
        ("the same, normalised", Subsequence(3, 0.5).normalized()(items), peer["subseq_1to3_lam0.5_norm"]),
        ("subsequences 4", Subsequence(4, 0.5)(items), peer["subseq_1to4_lam0.5"]),
        *(
            (
                f"subsequences of exactly {n}",
                Subsequence(n, 0.5, exactly=True)(items[:40]),
                naive["ssk"][..., n - 1],
            )
            for n in range(1, 6)
        ),
    ]
    for name, ours, theirs in checks:
        error = float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-300)))
        print(f"{name:28s} largest relative difference {error:.1e}{'' if error <= 1e-10 else '  MISSED'}")


def accuracies(folder: Path) -> None:
    """Print errors on both data sets."""
    from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict

    from mercer import SVC

    items, y = promoters(folder)
    tried = [
        ("Spectrum(4)", Spectrum(4).normalized()),
        ("BlendedSpectrum(5)", BlendedSpectrum(5).normalized()),
        ("Mismatch(5, 1)", Mismatch(5, 1, "ACGT").normalized()),
        ("Subsequence(4, 0.5)", Subsequence(4, 0.5).normalized()),
        ("WeightedDegree(5)", WeightedDegree(5).normalized()),
        ("WeightedDegree(5, shift=2)", WeightedDegree(5, 2).normalized().shifted()),
    ]
    print("promoters, leaving one out (published: KBANN 4, back-propagation 8, nearest neighbour 13, ID3 19)")
    for name, kernel in tried:
        K = kernel(items)
        said = cross_val_predict(SVC(kernel="precomputed", C=10.0), K, y, cv=LeaveOneOut())
        print(f"  {name:28s} {int((said != y).sum())} of {y.size} wrong")
    items, y = acceptors(folder)
    print("splice acceptors, five folds")
    for name, kernel in tried[:3] + tried[4:5]:
        K = kernel(items)
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        said = cross_val_predict(SVC(kernel="precomputed", C=10.0, class_weight="balanced"), K, y, cv=folds)
        rate = [(said == y)[y == label].mean() for label in np.unique(y)]
        print(f"  {name:28s} accuracy {(said == y).mean():.3f}, balanced {np.mean(rate):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--items", type=int, default=2200)
    parser.add_argument("--slow-items", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["speed", "values", "accuracy"])
    options = parser.parse_args()
    if options.only in (None, "speed"):
        items = (acceptors(options.data)[0] if options.data else random_dna(options.items))[: options.items]
        for case in cases():
            some = items[: options.slow_items] if case.slow else items
            ended = [item + "\n" for item in some] if case.peer == "kernlab" else some
            compare(case, ended, options.rounds)
        alone(items, max(1, options.rounds // 2))
    if options.data and options.only in (None, "values"):
        stored_values(options.data)
    if options.data and options.only in (None, "accuracy"):
        accuracies(options.data)


if __name__ == "__main__":
    main()
