"""One fit: an estimator, its parameters and its data."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from . import discovery
from .code import arguments, literal, valued
from .data import CONTAINERS, DENSE, Data, data_sets
from .parameters import settings_of


@dataclass(frozen=True)
class Fit:
    """A fit that can be run anywhere, and printed as Python."""

    estimator: str
    params: dict = field(hash=False)
    data: Data

    def run(self):
        from .judging import judge

        return judge(self)

    def model(self, **changes):
        params = {key: valued(value) for key, value in (self.params | changes).items()}
        return discovery.estimators()[self.estimator](**params)

    @property
    def place(self):
        """Where a failure that nobody saw happen is filed."""
        solver = self.params.get("solver", "auto")
        loss = self.params.get("loss")
        return f"{self.estimator} solver={solver}" + (f" loss={loss}" if loss else "")

    @property
    def role(self):
        return discovery.role(self.estimator)

    def inputs(self):
        """Return X, y and the weights (None where the estimator takes none)."""
        return self.data.X(), self.data.y(self.role), self.data.weights()

    def snippet(self):
        X, y, weight = self.inputs()
        lines = ["import numpy as np", "import mercer"]
        if "items." in repr(self.params):
            lines.append("from fuzz import items")
        if self.data.container in ("csr", "csr_array", "coo", "csc") and self.data.kind == "vectors":
            lines.append("import scipy.sparse")
        if self.data.container == "frame" and self.data.kind == "vectors":
            lines.append("import pandas")
            lines.append(f"X = pandas.DataFrame({literal(X.to_numpy())}, columns={list(X.columns)})")
        else:
            lines.append(f"X = {literal(X)}")
        given = ["X"]
        if y is not None:
            lines.append(f"y = {literal(y)}")
            given.append("y")
        if weight is not None:
            lines.append(f"w = {literal(weight)}")
            given.append("sample_weight=w")
        lines.append(f"m = mercer.{self.estimator}({arguments(self.params)}).fit({', '.join(given)})")
        if hasattr(discovery.estimators()[self.estimator], "certify"):
            call = ", ".join(["X", "y" if y is not None else "None", *(["w"] if weight is not None else [])])
            lines.append(f"print(m.certificate_, m.certify({call}), sep='\\n')")
        return "\n".join(lines)


OFTEN = (
    "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD", "KernelClassifier", "KernelRegressor",
    "KernelRidge", "KernelLogisticRegression",
)  # fmt: skip


def names():
    """Return the estimators, those with the most to prove three times."""
    found = sorted(discovery.estimators())
    return [name for name in OFTEN if name in found] * 2 + found


@st.composite
def fits(draw, only=None):
    name = draw(st.sampled_from(only or names()))
    vectors_only = "kernel" not in discovery.parameters(name) or name == "RandomFeatures"
    kinds = ["vectors"] * 6 + ([] if vectors_only else ["strings", "matrix"])
    kind = draw(st.sampled_from(kinds))
    containers = DENSE if vectors_only and not discovery.is_search(name) else CONTAINERS
    data = draw(data_sets(kind, discovery.role(name), discovery.takes_weight(name), containers))
    return Fit(name, draw(settings_of(name, kind)), data)
