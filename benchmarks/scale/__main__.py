"""Run jobs one after the other and print a table.

python -m benchmarks.scale dense --n 1000000 --losses squared_hinge
python -m benchmarks.scale sparse --data FOLDER --sets a9a w8a sparse
python -m benchmarks.scale ridge | svc | near
python -m benchmarks.scale growth --losses squared_hinge
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

COLUMNS = ("data", "n", "loss", "library", "tol", "seconds", "build", "excess", "accuracy", "score", "peak",
           "data_mb", "distance")  # fmt: skip


def jobs(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a group: mercer first, whose dual value the others are compared with."""
    base: dict[str, Any]
    if args.group in ("dense", "growth"):
        sizes = (10_000, 100_000, 1_000_000) if args.group == "growth" else (args.n,)
        for n in sizes:
            for loss in args.losses:
                base = {"task": "linear", "data": "dense", "n": n, "d": args.d, "loss": loss}
                for library in args.libraries:
                    tol = 1e-4 if library == "mercer" else args.tol
                    yield {**base, "library": library, "tol": tol, "free": library in ("mercer", "sklearn")}
    elif args.group == "sparse":
        for name in args.sets:
            for loss in args.losses:
                base = {"task": "linear", "data": name, "folder": args.data, "n": args.n, "d": args.d}
                for library in args.libraries:
                    tol = 1e-3 if library == "mercer" else args.tol
                    yield {**base, "loss": loss, "library": library, "tol": tol}
    elif args.group in ("ridge", "svc"):
        ridge = args.group == "ridge"
        data, d = ("smooth", 54) if ridge else ("curved", 20)
        base = {"task": "kernel", "data": data, "n": args.n, "d": d, "gamma": 0.5 / d, "C": 1.0}
        base.update(m=args.landmarks, cache=args.cache)
        for library in args.libraries:
            yield {**base, "library": library}
    else:
        for name, gamma, C in (("cod-rna_scale", 1.0, 32.0), ("ijcnn1", 2.0, 32.0)):
            base = {"task": "kernel", "data": name, "folder": args.data, "gamma": gamma, "C": C}
            for library in ("nystroem", "exact", "sklearn"):
                yield {**base, "library": library, "m": args.landmarks, "cache": args.cache}


def shown(found: dict[str, Any], best: dict[Any, float]) -> str:
    """Return a line of the table."""
    key = (found["data"], found.get("n"), found.get("loss"))
    if "dual" in found:
        best[key] = found["dual"]
    if "primal" in found and key in best:
        found["excess"] = (found["primal"] - best[key]) / abs(found["primal"])
    cells = []
    for name in COLUMNS:
        value = found.get(name, "")
        cells.append(f"{value:.4g}" if isinstance(value, float) else str(value))
    return " | ".join(cells)


def main() -> None:
    """Run a group of jobs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("group", choices=("dense", "sparse", "ridge", "svc", "near", "growth"))
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--losses", nargs="+", default=["squared_hinge", "binomial_deviance", "hinge"])
    parser.add_argument(
        "--libraries", nargs="+", default=["mercer", "sklearn", "liblinear", "liblinear-dual"]
    )
    parser.add_argument("--tol", type=float, default=1e-2, help="of the peers, in their own units")
    parser.add_argument("--sets", nargs="+", default=["a9a", "w8a", "sparse"])
    parser.add_argument("--data", default=".", help="a folder of LIBSVM text files")
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--cache", type=float, default=200.0, help="cache_size, in MB")
    args = parser.parse_args()
    best: dict[Any, float] = {}
    sys.stdout.write(" | ".join(COLUMNS) + "\n")
    for spec in jobs(args):
        command = [sys.executable, "-m", "benchmarks.scale.job", json.dumps(spec)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stdout.write(f"{spec}: {done.stderr.strip().splitlines()[-1:]}\n")
            continue
        sys.stdout.write(shown(json.loads(done.stdout.splitlines()[-1]), best) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
