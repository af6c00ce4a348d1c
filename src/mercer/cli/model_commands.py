"""What is done with a model: predict, evaluate, verify, show, convert, report."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mercer.cli import options as o
from mercer.cli.exit_codes import FAILED
from mercer.cli.exits import end_partial
from mercer.cli.option_groups import Reading, Shown, spread
from mercer.cli.screen import Screen
from mercer.cli.user_error import UserError

if TYPE_CHECKING:
    import numpy as np

    from mercer.cli.model_files import Loaded


@spread
def predict(
    model: o.Model,
    data: o.Data,
    reading: Reading,
    output: o.Predictions = "-",
    proba: o.Proba = False,
    decision: o.Decision = False,
    interval: o.Interval = None,
    sets: o.Sets = None,
    target: o.NoFeature = "none",
    batch_rows: o.BatchRows = 16384,
    keep_partial: o.KeepPartial = False,
    quiet: o.Quiet = False,
) -> None:
    """Predict the rows of a file in batches, in constant memory."""
    from mercer.cli.ctrl_c import finishing_the_batch
    from mercer.cli.model_files import load_model
    from mercer.cli.prediction_files import open_writer
    from mercer.cli.row_count import rows_in

    screen = Screen(quiet=quiet or (output == "-" and sys.stdout.isatty()))  # no bar among predictions
    loaded = load_model(model)
    if proba and not hasattr(loaded.model, "predict_proba"):
        raise UserError(f"{model} has no probabilities: train it with --probability")
    if decision and not hasattr(loaded.model, "decision_function"):
        raise UserError(f"{model} has no decision function")
    for name, coverage in (("--interval", interval), ("--sets", sets)):
        if coverage is not None and not 0.0 < coverage < 1.0:
            raise UserError(f"{name} {coverage:g} must be a probability between 0 and 1, such as 0.9")
    if sets is not None and not hasattr(loaded.machine, "predict_set"):
        raise UserError(f"{model} has no prediction sets: fit a ConformalClassifier around the classifier")
    kinds = [kind for kind, wanted in (("proba", proba), ("decision", decision)) if wanted]
    count, strange, guarantee = 0, dict[str, set[str]](), ""
    total = rows_in(data, reading) if screen.shows_steps else None
    asking = finishing_the_batch() if keep_partial else nullcontext(lambda: False)
    try:
        with asking as stopped, screen.steps(total) as steps, open_writer(output) as writer:
            steps.now("rows")
            for X, table in loaded.batches(data, reading, target, batch_rows):
                for name, texts in loaded.strangers(table).items():
                    strange.setdefault(name, set()).update(texts)
                columns, guarantee = _predicted(loaded, X, kinds, interval, sets)
                writer.write(columns)
                count += table.n_rows
                steps.done(table.n_rows)
                if stopped():
                    break
    except KeyboardInterrupt:
        if output != "-":
            raise
        raise KeyboardInterrupt(f"standard output ends after {count} predictions or a few more") from None
    warn_of_texts(strange, screen)
    if guarantee:
        screen.say(guarantee)
    if stopped():
        end_partial(f"{'standard output' if output == '-' else output} has the first {count} predictions")
    if output != "-":
        screen.say(f"wrote {count} predictions to {output}")


def _predicted(
    loaded: Loaded, X: Any, kinds: list[str], interval: float | None = None, sets: float | None = None
) -> tuple[dict[str, np.ndarray], str]:
    """Return predictions, with probabilities, decisions, intervals and sets as wanted, as named columns.

    The second value is the guarantee of conformal intervals and sets, in words.
    """
    import numpy as np

    from mercer._report.outputs import outputs_of
    from mercer._report.scores import interval_half

    guarantee = ""
    if interval is None:
        columns: dict[str, np.ndarray] = {"prediction": np.asarray(loaded.model.predict(X))}
    elif hasattr(loaded.machine, "predict_interval"):
        found = loaded.machine.predict_interval(loaded.prepared(X), coverage=interval)
        columns = {"prediction": np.asarray(loaded.model.predict(X)), "low": found.low, "high": found.high}
        guarantee = str(found.guarantee)
    else:
        said = outputs_of(loaded.model, X)
        half = interval_half(said, interval)
        if half is None:
            raise UserError(
                f"{loaded.path} has no prediction intervals: train it with --machine gp, or fit a "
                "ConformalRegressor around the regressor"
            )
        columns = {"prediction": said.predicted, "low": said.predicted - half, "high": said.predicted + half}
    if sets is not None:
        allowed = loaded.machine.predict_set(loaded.prepared(X), coverage=sets)
        columns["set"] = np.array(["|".join(str(c) for c in one) for one in allowed], dtype=object)
        guarantee = str(allowed.guarantee)
    if "proba" in kinds:
        P = np.asarray(loaded.model.predict_proba(X))
        columns |= {f"p({name})": P[:, k] for k, name in enumerate(loaded.machine.classes_)}
    return (columns | _decisions(loaded, X) if "decision" in kinds else columns), guarantee


def warn_of_texts(strange: dict[str, set[str]], screen: Screen) -> None:
    """Warn of texts that training had not seen, by column."""
    from mercer.words import listed

    for name, texts in strange.items():
        screen.warn(
            f"column {name!r} has values not seen in training: {listed(sorted(texts))}; they are encoded as "
            "zeros"
        )


def _decisions(loaded: Loaded, X: Any) -> dict[str, np.ndarray]:
    import numpy as np

    F = np.asarray(loaded.model.decision_function(X))
    if F.ndim == 1:
        return {"decision": F}
    return {f"decision({name})": F[:, k] for k, name in enumerate(loaded.machine.classes_)}


@spread
def evaluate(
    model: o.Model,
    data: o.Data,
    reading: Reading,
    target: o.Target = "last",
    weights: o.Weights = None,
    scoring: o.Scoring = None,
    as_json: o.Json = False,
) -> None:
    """Evaluate a model on rows with known targets; a row of weight 2 counts as two rows."""
    import numpy as np
    from sklearn import metrics

    from mercer._report.outputs import outputs_of
    from mercer._report.scores import Measuring, coverage_of
    from mercer._report.verdict import form, intervals, use
    from mercer.cli.model_files import load_model, read_for
    from mercer.cli.task_choice import known_novelties

    screen = Screen(as_json)
    loaded = load_model(model)
    X, table = read_for(loaded, data, target, reading, weights)
    weight = table.sample_weight
    if weight is not None and not weight.any():
        raise UserError(f"the weights of {table.source} are all 0: there is nothing to evaluate")
    kind = loaded.kind
    truth = known_novelties(table.y) if kind == "detector" else table.y
    if kind != "detector" and truth is None:
        raise UserError("evaluate needs the true values: give --target COLUMN")
    warn_of_texts(loaded.strangers(table), screen)
    said = outputs_of(loaded.model, X)
    predicted = said.predicted
    if kind == "classifier":
        assert truth is not None
        truth = same_kind(truth, loaded.machine.classes_, table.target_name)
    rows = f"{table.n_rows} rows"
    scores = Measuring(kind, scoring=scoring)(truth, said, rows, not loaded.learned_from(X), weight)
    words, tone = use(scores)
    counted = "" if weight is None else f", counted by their weights ({weight.sum():g} in all)"
    rows = f"{table.n_rows}{counted}"
    shown: list[Any] = [("use", words, tone), ("rows", rows)]
    shown += [(k, form(k)(v)) for k, v in scores.values.items()]
    document: dict[str, Any] = {"command": "evaluate", "rows": table.n_rows, "scores": scores.values}
    coverage = coverage_of(scores) if kind == "regressor" else None
    if coverage is not None:
        shown.append(("intervals", intervals(coverage)))
        document["intervals"] = coverage.document()
    screen.pairs(shown)
    document["weighted"] = weight is not None
    if kind == "classifier":
        names = np.unique(np.concatenate([truth, predicted]))
        matrix = metrics.confusion_matrix(truth, predicted, labels=names, sample_weight=weight)
        if not screen.out.is_terminal:
            screen.line()  # a terminal's table begins with one
        head = ["", *(f"predicted {name}" for name in names)]
        body = [[f"true {name}", *(f"{cell:g}" for cell in matrix[k])] for k, name in enumerate(names)]
        screen.grid(head, body, range(1, len(names) + 1))
        document |= {"classes": names, "confusion": matrix}
    screen.finish(document)


def same_kind(truth: Any, classes: np.ndarray, name: str | None) -> np.ndarray:
    """Return the truth in the type of the classes; refuse a column that has nothing to do with them."""
    import numpy as np

    out = np.asarray(truth).astype(str) if classes.dtype.kind in "US" else np.asarray(truth)
    if not np.isin(out, classes).any():
        shown = ", ".join(str(c) for c in classes[:5])
        raise UserError(
            f"the target {name!r} has none of the model's classes ({shown}); is --target correct?"
        )
    return out


@spread
def verify(
    model: o.Model,
    data: o.Data,
    reading: Reading,
    target: o.Target = "last",
    as_json: o.Json = False,
) -> None:
    """Recompute a model's certificate from its file and its data; exit code 1 if it does not hold."""
    from mercer.cli.model_files import load_model, read_for
    from mercer.cli.train_results import certificate_document
    from mercer.io import verify as verify_model

    screen = Screen(as_json)
    loaded = load_model(model)
    if loaded.file is None:
        raise UserError(f"{model} is a LIBSVM model: it has no certificate to verify")
    X, table = read_for(loaded, data, target, reading)
    y = None if loaded.kind == "detector" else table.y
    found = verify_model(loaded.file, X, y)
    known = {True: "yes: same fingerprint", False: "no", None: "unknown: the file has no fingerprint"}
    rows = [
        ("verdict", "it holds" if found.holds else "it does not hold", "good" if found.holds else "poor"),
        ("claimed", str(found.claimed)),
        ("found", str(found.found)),
        ("same data", known[found.same_data]),
        *(("problem", words, "poor") for words in found.problems),
    ]
    screen.pairs(rows)  # type: ignore[arg-type]
    screen.finish(
        {
            "command": "verify",
            "holds": found.holds,
            "problems": list(found.problems),
            "same_data": found.same_data,
            "claimed": certificate_document(found.claimed),
            "found": certificate_document(found.found),
        }
    )
    if not found.holds:
        raise typer.Exit(FAILED)


def show(model: o.Model, as_json: o.Json = False) -> None:
    """Show the content of a model file."""
    from mercer._report.step_words import rounded
    from mercer.cli.model_files import load_model

    screen = Screen(as_json)
    loaded = load_model(model)
    document = loaded.describe()
    rows = []
    for name, value in document.items():
        if value is None or name == "command":
            continue
        if isinstance(value, dict):
            words = ", ".join(f"{k} {v}" for k, v in value.items() if v is not None)
        elif isinstance(value, (list, tuple)):
            words = ", ".join(str(v) for v in value[:12]) + (
                f", ... ({len(value)})" if len(value) > 12 else ""
            )
        else:
            words = rounded(str(value)) if name == "kernel" else str(value)
        rows.append((name.replace("_", " "), words))
    screen.pairs(rows)
    screen.finish(document)


@spread
def convert(source: o.Source, destination: o.Destination, shown: Shown, to: o.To = None) -> None:
    """Convert a model between mercer's and LIBSVM's formats, or export it to ONNX."""
    from mercer.cli.model_files import load_model, write_as
    from mercer.cli.whole_files import check_place, whole_file

    screen = Screen(shown.as_json, shown.quiet)
    endings = {".mercer": "mercer", ".safetensors": "mercer", ".model": "libsvm", ".libsvm": "libsvm"}
    kind = to or (endings | {".onnx": "onnx"}).get(destination.suffix)
    if kind not in o.MODEL_FORMATS:
        wish = f"--to {to} is invalid" if to else f"the extension of {destination} is not a known format"
        raise UserError(f"{wish}: give --to mercer, --to libsvm or --to onnx")
    loaded = load_model(source)
    check_place(destination)
    with whole_file(destination) as part:
        write_as(loaded, part, kind)
    machine = type(loaded.machine).__name__
    screen.say(f"wrote {destination}: {machine} in the format {kind}")
    screen.finish(
        {
            "command": "convert",
            "source": str(source),
            "destination": str(destination),
            "format": kind,
            "machine": machine,
        }
    )


@spread
def report(
    model: o.Model,
    data: o.Data,
    reading: Reading,
    target: o.Target = "last",
    output: o.PageOutput = None,
    folds: o.Folds = 5,
) -> None:
    """Write an HTML report of a model, from its file and its training data."""
    import mercer
    from mercer.cli.model_files import load_model, read_for
    from mercer.cli.whole_files import check_place, whole_file

    screen = Screen()
    loaded = load_model(model)
    place = output or Path(f"{model.stem}.html")
    check_place(place)
    X, table = read_for(loaded, data, target, reading)
    y = None if loaded.kind == "detector" else table.y
    facts = [("target", table.target_name)] if table.target_name and y is not None else []
    page = mercer.report(loaded.model, X, y, cv=folds, facts=facts)
    with whole_file(place) as part:
        page.save(part)
    screen.say(f"wrote {place}")
