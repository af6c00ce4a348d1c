"""svm-predict: predictions of a model in LIBSVM's format, row by row of a file in LIBSVM's format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from mercer.cli.libsvm.flags import PredictFlags, parse_predict
from mercer.cli.libsvm.training_setup import serial_numbers
from mercer.cli.whole_files import whole_file
from mercer.io import ModelFileError, libsvm_probabilities, read_batches
from mercer.io.libsvm.conversion import from_libsvm
from mercer.io.libsvm.model_text import CLASSIFIERS, LibsvmModel, parse_libsvm_model
from mercer.problems.libsvm_probabilities import density_probability

ROWS = 8192  # read and predicted at a time


def main(arguments: list[str]) -> None:
    """Run svm-predict."""
    flags = parse_predict(arguments)
    for path, what in ((flags.data, "input file"), (flags.model, "model file")):
        if not Path(path).is_file():
            raise FileNotFoundError(f"can't open {what} {path}")
    try:
        stored = parse_libsvm_model(Path(flags.model).read_bytes())
    except ModelFileError as error:
        raise ValueError(f"can't open model file {flags.model}: {error}") from error
    say = (lambda text: len(text)) if flags.quiet else sys.stdout.write
    able = stored.prob_a is not None or stored.density_marks is not None
    if flags.probability and not able:
        raise ValueError("Model does not support probabiliy estimates")  # codespell:ignore probabiliy
    if able and not flags.probability:
        say("Model supports probability estimates, but disabled in prediction.\n")
    with whole_file(Path(flags.output)) as part:
        try:
            target = part.open("w", encoding="ascii")
        except OSError as error:
            raise OSError(f"can't open output file {flags.output}: {error.strerror}") from error
        with target:
            summary = predict(flags, stored, target, say)
    say(summary)


def predict(flags: PredictFlags, stored: LibsvmModel, target: TextIO, say: Any) -> str:
    """Write the predictions, return how good they are."""
    given = stored.kernel_type == "precomputed"
    options: dict[str, Any] = {
        "format": "svmlight",
        "target": "last",
        "batch_rows": ROWS,
        "zero_based": given,
    }
    width = max(batch.n_features for batch in read_batches(flags.data, **options))
    if given:
        model = from_libsvm(stored, n_rows=max(width - 1, int(np.max(stored.vectors, initial=1))))
    else:
        model = from_libsvm(stored, n_features=max(width, stored.vectors.shape[1]))
    if flags.probability:
        _head(stored, target, say)
    sums = Sums()
    columns = model.n_features_in_ + (1 if given else 0)
    for batch in read_batches(flags.data, n_features=columns, **options):
        X: Any = _kernel_rows(batch.X, flags.data) if given else batch.X
        if not given and isinstance(model.support_vectors_, np.ndarray):  # few zeros among them
            X = batch.X.toarray()
        predicted, words = _rows(flags, stored, model, X)
        target.writelines(words)
        sums.add(predicted, np.asarray(batch.y, dtype=np.float64))
    return sums.words(classification=stored.svm_type not in ("epsilon_svr", "nu_svr"))


def _kernel_rows(X: Any, source: str) -> np.ndarray:
    dense = X.toarray()
    serial_numbers(dense, source, 2**31)
    rows: np.ndarray = dense[:, 1:]
    return rows


def _head(stored: LibsvmModel, target: TextIO, say: Any) -> None:
    if stored.svm_type in ("epsilon_svr", "nu_svr"):
        assert stored.prob_a is not None
        say(
            "Prob. model for test data: target value = predicted value + z,\n"
            f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={stored.prob_a[0]:g}\n"
        )
    elif stored.svm_type == "one_class":
        target.write("label normal outlier\n")
    else:
        assert stored.labels is not None
        target.write("labels " + " ".join(str(label) for label in stored.labels) + "\n")


def _rows(flags: PredictFlags, stored: LibsvmModel, model: Any, X: Any) -> tuple[np.ndarray, Iterator[str]]:
    """Return predictions and the lines to write."""
    if flags.probability and stored.svm_type in CLASSIFIERS:
        assert stored.labels is not None
        order = np.searchsorted(model.classes_, stored.labels)
        P = libsvm_probabilities(model, X)[:, order]
        predicted = stored.labels[P.argmax(axis=1)].astype(np.float64)
        return predicted, (f"{p:g} {_numbers(row)}\n" for p, row in zip(predicted, P, strict=True))
    predicted = np.asarray(model.predict(X), dtype=np.float64)
    if flags.probability and stored.svm_type == "one_class":
        assert stored.density_marks is not None
        normal = density_probability(model.decision_function(X), stored.density_marks)
        return predicted, (f"{p:g} {q:g} {1 - q:g}\n" for p, q in zip(predicted, normal, strict=True))
    return predicted, (f"{p:g}\n" for p in predicted)


def _numbers(row: np.ndarray) -> str:
    return " ".join(f"{value:g}" for value in row)


class Sums:
    """What is left of the rows seen so far: enough for accuracy, error and correlation."""

    def __init__(self) -> None:
        self.n = self.right = 0
        self.error = self.p = self.t = self.pp = self.tt = self.pt = 0.0

    def add(self, predicted: np.ndarray, truth: np.ndarray) -> None:
        """Add some rows."""
        self.n += truth.size
        self.right += int((predicted == truth).sum())
        self.error += float(((predicted - truth) ** 2).sum())
        self.p += float(predicted.sum())
        self.t += float(truth.sum())
        self.pp += float(predicted @ predicted)
        self.tt += float(truth @ truth)
        self.pt += float(predicted @ truth)

    def words(self, classification: bool) -> str:
        """Return LIBSVM's closing lines."""
        if classification:
            return f"Accuracy = {100.0 * self.right / self.n:g}% ({self.right}/{self.n}) (classification)\n"
        top = (self.n * self.pt - self.p * self.t) ** 2
        bottom = (self.n * self.pp - self.p**2) * (self.n * self.tt - self.t**2)
        correlation = top / bottom if bottom else float("nan")
        return (
            f"Mean squared error = {self.error / self.n:g} (regression)\n"
            f"Squared correlation coefficient = {correlation:g} (regression)\n"
        )
