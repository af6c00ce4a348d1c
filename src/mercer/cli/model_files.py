"""Model files of mercer and of LIBSVM, and the data that they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

import mercer
from mercer._report.step_words import step_in_words
from mercer._report.subject import Kind
from mercer.cli.gaussian_process import noise_deviation
from mercer.cli.input_tables import split_weights, target_of
from mercer.cli.option_groups import Reading
from mercer.cli.preparation import features_of, known_texts, takes_gaps, text_columns
from mercer.cli.user_error import UserError
from mercer.cli.value_sizes import refuse_sizes
from mercer.estimators.probability import UNSET
from mercer.io import (
    ModelFile,
    ModelFileError,
    Table,
    read_batches,
    read_data,
    read_libsvm_model,
    read_model,
    write_libsvm_model,
)
from mercer.io.model.saving import save_again
from mercer.io.model.training_data import fingerprint, fitted_part


@dataclass(frozen=True)
class Loaded:
    """A model out of a file.

    Attributes
    ----------
    model : estimator
        It predicts from the user's columns.
    file : ModelFile or None
        What else mercer's file says; None for LIBSVM's.
    path : Path
        Where it came from.
    """

    model: Any
    file: ModelFile | None
    path: Path

    @property
    def machine(self) -> Any:
        """The estimator at the end of the pipeline."""
        return fitted_part(self.model)

    def prepared(self, X: Any) -> Any:
        """Return rows as the estimator at the end of the pipeline takes them."""
        steps = self.model is not self.machine and len(self.model) > 1
        return self.model[:-1].transform(X) if steps else X

    def learned_from(self, X: Any) -> bool:
        """Return whether these are the rows that the model was trained on."""
        return self.file is not None and self.file.training.features == fingerprint(X)

    @property
    def kind(self) -> Kind:
        """What the model does."""
        if isinstance(self.machine, mercer.RankSVM):
            raise UserError(
                f"{self.path} ranks the rows of queries: `mercer predict` gives the values that order them; "
                "score and certify are for Python (mercer.load(...), with group=)"
            )
        if is_classifier(self.model):
            return "classifier"
        return "regressor" if is_regressor(self.model) else "detector"

    @property
    def names(self) -> list[str] | None:
        """The names of the columns that the model takes, if it knows them."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @property
    def width(self) -> int | None:
        """The number of columns that the model takes; None if rows are time series of any length."""
        width = getattr(self.model, "n_features_in_", None)
        return None if width is None else int(width)

    def options(self, how: Reading) -> dict[str, Any]:
        """Return the arguments with which data are to be read."""
        found = how.options()
        if self.names is not None:
            found["features"] = self.names
        elif self.width is not None:
            found["n_features"] = self.width
        return found

    def check(self, table: Table) -> Any:
        """Return the features for the model, or say why they do not fit."""
        if self.width is not None and table.n_features != self.width:
            raise UserError(
                f"{table.source} has {table.n_features} features, {self.path} expects {self.width}: if one "
                "of them is the target, give --target last"
            )
        text = set(text_columns(self.model))
        for name in set(table.categorical) ^ text:
            here, there = ("numbers", "text") if name in text else ("text", "numbers")
            raise UserError(f"column {name!r} of {table.source} holds {here}; in training it held {there}")
        for name in table.n_missing():
            if self.width is None or takes_gaps(self.model, name):  # gaps at the end of a series are padding
                continue
            row = table.first_row + 1 + int(np.flatnonzero(_absent(table, name))[0])
            raise UserError(
                f"{table.source} has missing values, first in column {name!r}, row {row}: there were "
                "none in this column in training"
            )
        refuse_sizes(table)
        if self.names is not None:
            return features_of(table)
        # Machines of dense rows, such as LIBSVM's models with few zeros, take no sparse ones.
        dense = isinstance(getattr(self.machine, "support_vectors_", None), np.ndarray)
        return table.X.toarray() if dense and table.is_sparse else table.X

    def strangers(self, table: Table) -> dict[str, set[str]]:
        """Return the texts that training had not seen, by column: to the model they are nothing at all."""
        known = known_texts(self.model)
        found = {name: set(table.categories.get(name, ())) - texts for name, texts in known.items()}
        return {name: texts for name, texts in found.items() if texts}

    def _text(self, data: str, how: Reading) -> list[str] | None:
        """Return the text columns of a file: the model's own, and those it does not take."""
        mine = text_columns(self.model)
        if not mine or data == "-":
            return None
        first = next(iter(read_batches(data, target=None, batch_rows=1000, **how.options())), None)
        others = [] if first is None else [n for n in first.categorical if n not in set(self.names or ())]
        return [*mine, *others]

    def batches(self, data: str, how: Reading, target: str, rows: int) -> Iterator[tuple[Any, Table]]:
        """Yield the features of a few rows at a time."""
        wish = None if self.names is not None else target_of(target)
        options = self.options(how) | {"categorical": self._text(data, how)}
        for table in read_batches(data, target=wish, batch_rows=rows, **options):
            if table.n_rows:
                yield self.check(table), table

    def describe(self) -> dict[str, Any]:
        """Return what is to say of the file."""
        machine, file = self.machine, self.file
        known = machine.get_params(deep=False)
        names = ("C", "nu", "epsilon", "threshold", "tol", "class_weight", "probability")
        certificate = getattr(machine, "certificate_", None)
        rows = None if file is None else file.training.rows
        steps = getattr(self.model, "steps", [])[:-1]
        return {
            "command": "show",
            "file": str(self.path),
            "kind": "LIBSVM's text" if file is None else f"mercer, protocol {file.protocol}",
            "machine": type(machine).__name__,
            "kernel": repr(machine.kernel_),
            "parameters": {k: known[k] for k in names if known.get(k) not in (None, False, 0.0, UNSET)},
            "preparation": [step_in_words(step) for _, step in steps] or None,
            "target": None if file is None else file.training.target_name,
            "classes": [str(c) for c in machine.classes_] if hasattr(machine, "classes_") else None,
            "features": self.names or self.width or "time series",
            "support_vectors": int(machine.support_.size) if hasattr(machine, "support_") else None,
            "noise_deviation": noise_deviation(machine),
            "training_rows": rows,
            "training_data": None if file is None or file.training.features is None else "fingerprint kept",
            "weights": None if file is None or file.training.weights is None else "kept",
            "certificate": None if certificate is None else str(certificate),
            "versions": None if file is None else file.versions,
        }


def _absent(table: Table, name: str) -> np.ndarray:
    if hasattr(table.X, "iloc"):
        return np.asarray(table.X[name].isna())
    column = table.X[:, list(table.feature_names).index(name)]
    dense = np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64)
    return np.asarray(np.isnan(dense)).ravel()


def replaced_words(path: Path, target: str | None, force: bool) -> list[str]:
    """Return what is to say of a model that is about to be replaced; refuse if it predicts something else."""
    if not path.is_file() or path.stat().st_size == 0:
        return []
    try:
        known = read_model(path).training
    except ModelFileError as error:
        if force:
            return [f"overwriting {path}, which is not a mercer model"]
        raise UserError(
            f"{path} exists and is not a mercer model ({error}): use --force to overwrite it"
        ) from None
    named = known.target_name is not None and known.target_name != target
    if known.features is not None and (named or (known.target is None) != (target is None)):
        was = f"predicts {known.target_name!r}" if known.target is not None else "detects novelties"
        if not force:
            raise UserError(f"{path} {was}: use --force to overwrite it, or --output to write another file")
        return [f"overwriting {path}, which {was}"]
    return [f"{path} exists and has the same target: overwriting it"]


def load_model(path: Path) -> Loaded:
    """Open a model file of either kind."""
    if not path.is_file():
        raise UserError(f"model file {path} does not exist")
    with path.open("rb") as file:
        head = file.read(9)
    if head == b"svm_type ":
        return Loaded(read_libsvm_model(path), None, path)
    if head[:1] == b"\x08" and head[2:3] == b"\x12":  # version and producer, as ONNX files begin
        raise UserError(
            f"{path} is an ONNX file: mercer writes ONNX files but does not read them. Use the model "
            "it was converted from"
        )
    if head.isascii() and head.decode().isprintable():  # a model file begins with a length in binary
        raise UserError(f"{path} is a text file, not a model; the model comes first, then the data")
    file_content = read_model(path)
    return Loaded(file_content.model, file_content, path)


def read_for(
    loaded: Loaded, data: str, target: str, how: Reading, weights: str | None = None
) -> tuple[Any, Table]:
    """Return a whole table's features for a model, and the table with its target and its weights."""
    options = loaded.options(how)
    if weights is not None and loaded.names is not None:
        if weights in loaded.names:
            raise UserError(f"--weights {weights!r}: it is one of the features of {loaded.path}")
        options["features"] = [*loaded.names, weights]
    table = read_data(data, target=target_of(target), **options)
    table, _ = split_weights(table, weights)
    return loaded.check(table), table


def write_as(loaded: Loaded, path: Path, kind: str) -> None:
    """Write a model in another format."""
    model, machine = loaded.model, loaded.machine
    if kind == "mercer":
        if loaded.file is None:
            mercer.save(model, path)
        else:
            save_again(loaded.file, path)
        return
    if kind == "onnx":
        from mercer.io import to_onnx

        to_onnx(model, path)
        return
    if machine is not model and len(model.steps) > 1:
        steps = ", ".join(type(step).__name__ for _, step in model.steps[:-1])
        raise UserError(
            f"LIBSVM's format cannot store the preprocessing ({steps}): train with --no-scale on data that "
            "are already scaled (mercer svm-scale does it LIBSVM's way)"
        )
    write_libsvm_model(machine, path)
