"""The text of LIBSVM's model files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram import Workers
from mercer.io.errors import DataFileError, ModelFileError
from mercer.io.tables.svmlight import parse, to_table

TYPES = {
    "c_svc": "SVC",
    "nu_svc": "NuSVC",
    "one_class": "OneClassSVM",
    "epsilon_svr": "SVR",
    "nu_svr": "NuSVR",
}
KERNELS = {
    "linear": "linear",
    "polynomial": "poly",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
    "precomputed": "precomputed",
}
CLASSIFIERS = ("c_svc", "nu_svc")
MOST_CLASSES = 1 << 16


@dataclass(frozen=True, eq=False)
class LibsvmModel:
    """What a model file of LIBSVM holds, in its own layout and signs.

    Attributes
    ----------
    svm_type, kernel_type : str
        As the file calls them.
    degree, gamma, coef0 : float
        Parameters of the kernel.
    rho : (machines,) float64
        Minus the biases.
    labels : (classes,) int64 or None
        In the order in which support vectors are stored; a positive decision of a pair means the first.
    n_support : (classes,) int64 or None
        Support vectors of each class.
    coef : (classes - 1 or 1, m) float64
        Coefficients.
    vectors : (m, d) CSR, or (m,) int64
        Support vectors; their row numbers, from 1, for a precomputed kernel.
    prob_a, prob_b : (machines,) float64 or None
        Parameters of the sigmoids.
    density_marks : (10,) float64 or None
        For probabilities of one-class machines.
    """

    svm_type: str
    kernel_type: str
    rho: np.ndarray
    coef: np.ndarray
    vectors: Any
    degree: float = 3
    gamma: float = 0.0
    coef0: float = 0.0
    labels: np.ndarray | None = None
    n_support: np.ndarray | None = None
    prob_a: np.ndarray | None = None
    prob_b: np.ndarray | None = None
    density_marks: np.ndarray | None = None

    def reordered(self, order: np.ndarray) -> LibsvmModel:
        """Return the same model with its classes in another order.

        Parameters
        ----------
        order : (classes,) int
            Which class comes first, second, ...; a pair that changes its order changes its sign.
        """
        assert self.labels is not None
        assert self.n_support is not None
        k = self.labels.size
        ends = np.concatenate([[0], np.cumsum(self.n_support)])
        blocks = [np.arange(ends[c], ends[c + 1]) for c in order]
        place = np.concatenate([[0], np.cumsum([b.size for b in blocks])])
        coef = np.zeros_like(self.coef)
        number = {pair: n for n, pair in enumerate(combinations(range(k), 2))}
        pick, sign = np.empty(len(number), dtype=np.intp), np.empty(len(number))
        for (p, q), n in number.items():
            a, b = int(order[p]), int(order[q])
            sign[n] = 1.0 if a < b else -1.0
            pick[n] = number[min(a, b), max(a, b)]
            row_a, row_b = (b - 1, a) if a < b else (b, a - 1)
            coef[q - 1, place[p] : place[p + 1]] = sign[n] * self.coef[row_a, blocks[p]]
            coef[p, place[q] : place[q + 1]] = sign[n] * self.coef[row_b, blocks[q]]
        moved = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.intp)
        return replace(
            self,
            coef=coef,
            vectors=self.vectors[moved],
            rho=sign * self.rho[pick],
            labels=self.labels[order],
            n_support=self.n_support[order],
            prob_a=None if self.prob_a is None else self.prob_a[pick],
            prob_b=None if self.prob_b is None else sign * self.prob_b[pick],
        )


def _numbers(words: list[str], kind: Callable[[str], Any], key: str) -> np.ndarray:
    try:
        values = np.array([kind(word) for word in words])
    except (ValueError, OverflowError):
        raise ModelFileError(f"{key} must be numbers, found {' '.join(words)[:40]!r}") from None
    if values.dtype.kind == "O" or not np.isfinite(values).all():
        raise ModelFileError(f"{key} must be finite numbers, found {' '.join(words)[:40]!r}")
    return values


def _whole(word: str) -> int:
    value = float(word)
    if value != int(value) or abs(value) >= 2**53:
        raise ValueError(word)
    return int(value)


KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "degree": ("degree", float),
    "gamma": ("gamma", float),
    "coef0": ("coef0", float),
    "nr_class": ("nr_class", _whole),
    "total_sv": ("total_sv", _whole),
    "rho": ("rho", float),
    "label": ("labels", _whole),
    "probA": ("prob_a", float),
    "probB": ("prob_b", float),
    "prob_density_marks": ("density_marks", float),
    "nr_sv": ("n_support", _whole),
}


def parse_libsvm_model(content: bytes) -> LibsvmModel:
    """Return what the text of a model file holds.

    Parameters
    ----------
    content : bytes
        The file.

    Returns
    -------
    LibsvmModel
    """
    at, header = 0, dict[str, Any]()
    while True:
        end = content.find(b"\n", at)
        line = content[at : end if end >= 0 else len(content)].strip()
        if line == b"SV":
            break
        if end < 0 or len(header) > 20:
            raise ModelFileError("it has no line SV: it is not a LIBSVM model file, or is truncated")
        at = end + 1
        words = line[: 1 << 24].decode("ascii", errors="replace").split()
        if not words:
            continue
        key, rest = words[0], words[1:]
        if key in header:
            raise ModelFileError(f"{key} appears twice in the header")
        if key in ("svm_type", "kernel_type"):
            known = TYPES if key == "svm_type" else KERNELS
            if len(rest) != 1 or rest[0] not in known:
                raise ModelFileError(f"{key} {' '.join(rest)[:40]!r} is none of {', '.join(known)}")
            header[key] = rest[0]
        elif key in KEYS:
            header[KEYS[key][0]] = _numbers(rest, KEYS[key][1], key)
        else:
            if not header:
                raise ModelFileError("it does not begin as model files of LIBSVM do, which are text")
            raise ModelFileError(f"{key[:40]!r} is not an entry of a model file")
    body = content[end + 1 :] if end >= 0 else b""
    return _checked(header, body)


def _checked(header: dict[str, Any], body: bytes) -> LibsvmModel:
    for key in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if key not in header or (key in ("nr_class", "total_sv") and header[key].size != 1):
            raise ModelFileError(f"the header has no {key}")
    kind = header["svm_type"]
    k, m = int(header.pop("nr_class")[0]), int(header.pop("total_sv")[0])
    classifier = kind in CLASSIFIERS
    if not 2 <= k <= MOST_CLASSES or m < 0 or (not classifier and k != 2):
        raise ModelFileError(f"nr_class {k} and total_sv {m} are inconsistent")
    machines = k * (k - 1) // 2 if classifier else 1
    sizes = {
        "rho": machines,
        "labels": k,
        "n_support": k,
        "prob_a": machines,
        "prob_b": machines,
        "density_marks": 10,
    }
    for name, size in sizes.items():
        if name in header and header[name].size != size:
            raise ModelFileError(f"{name} has {header[name].size} entries instead of {size}")
    for name in ("labels", "n_support") if classifier else ():
        if name not in header:
            raise ModelFileError(f"the header has no {name}")
    if classifier and ((header["n_support"] < 0).any() or int(header["n_support"].sum()) != m):
        raise ModelFileError(f"nr_sv does not sum to total_sv {m}")
    if classifier and len(set(header["labels"].tolist())) != k:
        raise ModelFileError("the same label appears twice")
    for name in ("degree", "gamma", "coef0"):
        if name in header:
            if header[name].size != 1:
                raise ModelFileError(f"{name} must be one number")
            header[name] = float(header[name][0])
    coef, vectors = _vectors(body, k - 1 if classifier else 1, m, header["kernel_type"] == "precomputed")
    return LibsvmModel(coef=coef, vectors=vectors, **header)


def _vectors(body: bytes, columns: int, m: int, precomputed: bool) -> tuple[np.ndarray, Any]:
    """Return coefficients and support vectors: lines of ``columns`` numbers, then index:value."""
    lines = [line for line in body.split(b"\n") if line.strip()]
    if len(lines) != m:
        raise ModelFileError(f"it has {len(lines)} support vectors; the header says {m}")
    coef = np.empty((columns, m))
    rest = []
    for r, line in enumerate(lines):
        words = line.split(None, columns)
        coef[:, r] = (
            _numbers([w.decode("ascii", "replace") for w in words[:columns]], float, "a coefficient")
            if len(words) >= columns
            else np.nan
        )
        rest.append(b"0 " + (words[columns] if len(words) > columns else b""))
    if not np.isfinite(coef).all():
        raise ModelFileError(f"a support vector has fewer than {columns} coefficients")
    try:
        rows = parse(np.frombuffer(b"\n".join(rest), dtype=np.uint8), "the support vectors", Workers(1))
        table = to_table(rows, "the support vectors", precomputed, None, 0, False) if m else None
    except DataFileError as error:
        raise ModelFileError(str(error)) from error
    if table is None:
        return coef, np.empty(0, dtype=np.int64) if precomputed else sp.csr_matrix((0, 1))
    if not np.isfinite(table.X.data).all():
        raise ModelFileError("a support vector is not finite")
    if not precomputed:
        return coef, table.X
    serial = table.X[:, [0]].toarray()[:, 0]
    if (
        table.X.nnz != m
        or (serial < 1).any()
        or (serial != np.rint(serial)).any()
        or serial.max(initial=0) >= 2**31
    ):
        raise ModelFileError("support vectors of a precomputed kernel must be 0:row, with rows from 1 on")
    return coef, serial.astype(np.int64)


def format_libsvm_model(stored: LibsvmModel) -> str:
    """Return the text of a model file.

    Parameters
    ----------
    stored : LibsvmModel
        Its content.
    """

    def line(key: str, values: Any) -> str:
        return f"{key} " + " ".join(f"{v:.17g}" for v in np.atleast_1d(values).tolist())

    out = [f"svm_type {stored.svm_type}", f"kernel_type {stored.kernel_type}"]
    if stored.kernel_type == "polynomial":
        out.append(f"degree {int(stored.degree)}")
    if stored.kernel_type in ("polynomial", "rbf", "sigmoid"):
        out.append(line("gamma", stored.gamma))
    if stored.kernel_type in ("polynomial", "sigmoid"):
        out.append(line("coef0", stored.coef0))
    out += [
        f"nr_class {2 if stored.labels is None else stored.labels.size}",
        f"total_sv {stored.coef.shape[1]}",
    ]
    out.append(line("rho", stored.rho))
    if stored.labels is not None:
        out.append(line("label", stored.labels))
    for key, values in (
        ("probA", stored.prob_a),
        ("probB", stored.prob_b),
        ("prob_density_marks", stored.density_marks),
    ):
        if values is not None:
            out.append(line(key, values))
    if stored.n_support is not None:
        out.append(line("nr_sv", stored.n_support))
    out.append("SV")
    for r in range(stored.coef.shape[1]):
        head = " ".join(f"{c:.17g}" for c in stored.coef[:, r].tolist())
        if stored.kernel_type == "precomputed":
            out.append(f"{head} 0:{stored.vectors[r]} ")
            continue
        span = slice(stored.vectors.indptr[r], stored.vectors.indptr[r + 1])
        pairs = zip(stored.vectors.indices[span].tolist(), stored.vectors.data[span].tolist(), strict=True)
        out.append(head + " " + "".join(f"{j + 1}:{_shortest(v)} " for j, v in pairs if v != 0))
    return "\n".join(out) + "\n"


def _shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(value).removesuffix(".0")
