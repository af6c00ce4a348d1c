"""Exported models: what onnxruntime says of an ONNX file is what the model says, or the export is refused."""

import time
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from .fits import Fit, fits
from .judging import count_votes, pair_decisions, votes_of_pairs
from .report import Report
from .watching import Refused, fitted, watched

METHODS = {
    "label": "predict", "prediction": "predict", "decision": "decision_function",
    "probabilities": "predict_proba",
}  # fmt: skip
MODEST = ("normal", "integers", "duplicates", "separated", "positive", "mostly_zero", "wide")


@dataclass(frozen=True)
class Export:
    """A fit that is exported and run elsewhere."""

    fit: Fit

    @property
    def place(self):
        return f"to_onnx of {self.fit.estimator}"

    def snippet(self):
        return self.fit.snippet() + "\nfrom mercer.io import to_onnx\nto_onnx(m)"

    def run(self):
        report = Report()
        start = time.process_time()
        try:
            self._export(report)
        except Refused as refusal:
            report.ending, report.refusal = "refused", str(refusal)
        report.failures = [f for f in report.failures if not f.name.startswith("fit")]
        report.seconds = time.process_time() - start
        return report

    def _export(self, report):
        import onnxruntime

        from mercer.io import to_onnx

        X, y, weight = self.fit.inputs()
        model = fitted(self.fit, report, X, y, weight)
        with watched(report, "to_onnx", ["estimator", "onnx"]):
            exported = to_onnx(model).SerializeToString()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])
        points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        names = [output.name for output in session.get_outputs()]
        said = dict(zip(names, session.run(None, {session.get_inputs()[0].name: points}), strict=True))
        report.ending = "exported"
        for name, method in METHODS.items():
            if name not in said:
                continue
            with watched(report, method):
                wanted = np.asarray(getattr(model, method)(points))
            found = np.asarray(said[name])
            if name == "label":
                continue  # ties may fall either way; decisions are compared
            scale = float(np.abs(wanted).max(initial=0.0))
            allowed = 1e-9 + 1e-6 * scale + _rounding(model, points)
            inner = getattr(model, "best_estimator_", getattr(model, "estimator_", model))
            if name == "decision" and found.shape == wanted.shape and votes_of_pairs(inner):
                # A pair that cannot decide may vote either way, and a vote changes the decision by one.
                floor = max(1e-12, _rounding(inner, points))
                _, sure = count_votes(pair_decisions(inner, points), inner.classes_.size, floor)
                found, wanted = found[sure], wanted[sure]
            if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-6, atol=allowed):
                report.fail("an export says the same", f"{self.place} {name}", f"{found} for {wanted}")


def _rounding(model, points):
    """Return what another order of summation may change: much where large coefficients cancel."""
    coef, kernel = getattr(model, "dual_coef_", None), getattr(model, "kernel_", None)
    if coef is None or kernel is None:
        return 0.0
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    # Of the numbers that kernel values come from: a centred kernel's cancel.
    size = max(float(kernel.magnitude(points).max()) ** 2, float(np.abs(kernel.diag(points)).max()))
    return 1e-14 * float(np.abs(coef).sum()) * size


@st.composite
def exports(draw):
    fit = draw(fits())
    data = fit.data
    changed = {
        "kind": "vectors", "exponent": max(-1, min(1, data.exponent)), "container": "dense",
        "shape": data.shape if data.shape in MODEST else "normal", "target_exponent": 0,
        "weight": None if data.weight in ("tiny", "huge", "ratios") else data.weight,
    }  # fmt: skip
    from dataclasses import replace

    params = {
        key: value
        for key, value in fit.params.items()
        if key in ("kernel", "n_jobs", "loss", "multiclass", "param_grid")
    }
    if fit.data.kind != "vectors":
        params.pop("kernel", None)
    return Export(Fit(fit.estimator, params, replace(data, **changed)))
