"""Kernel PCA of the file that was given on the command line."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import Div, Select, Slider
from bokeh.palettes import Category10, Viridis256

from mercer.play.figures import Scatter
from mercer.play.file_rows import FileRows, kernel_pca
from mercer.play.styles import power_of_ten

__all__ = ["FileTab"]

KERNELS = ("rbf", "linear", "poly", "laplacian")
MOST_LABELS = 10


class FileTab:
    """The rows of a file on two kernel principal components, coloured by the target.

    Parameters
    ----------
    rows : FileRows
        The table.
    """

    def __init__(self, rows: FileRows) -> None:
        self.rows = rows
        wide = {"sizing_mode": "stretch_width"}
        self.kernel = Select(title="Kernel", options=list(KERNELS), value="rbf", name="file_kernel", **wide)
        shown = power_of_ten()
        self.gamma = Slider(
            title="gamma × features", start=-3, end=2, step=0.05, value=-0.3, name="file_gamma",
            format=shown, **wide,
        )  # fmt: skip
        self.words = Div(name="file_words", **wide)
        self.scatter = Scatter()
        self.kernel.on_change("value", lambda _a, _o, _n: self.show())
        self.gamma.on_change("value_throttled", lambda _a, _o, _n: self.show())
        self.layout = column(self.kernel, self.gamma, self.words, self.scatter.figure, **wide)
        self.show()

    def show(self) -> None:
        """Project and draw."""
        kernel = self.kernel.value if self.kernel.value in KERNELS else "rbf"
        self.gamma.visible = kernel != "linear"
        scores, fractions = kernel_pca(self.rows, kernel, 10.0 ** float(np.clip(self.gamma.value, -3, 2)))
        target = self.rows.target
        colours, legend = _colours(target, len(self.rows.told))
        self.scatter.source.data = {
            "x": scores[:, 0],
            "y": scores[:, 1],
            "colour": colours,
            "told": list(self.rows.told),
            "target": [""] * len(colours) if target is None else [str(t) for t in target],
        }
        figure = self.scatter.figure
        figure.xaxis.axis_label = f"first component ({fractions[0]:.1%} of the variance)"
        figure.yaxis.axis_label = f"second component ({fractions[1]:.1%})"
        left_out = f", {self.rows.left_out} more are not shown" if self.rows.left_out else ""
        about = f"{self.rows.name}: {scores.shape[0]} rows{left_out}. Hover over a point to see its row."
        self.words.text = f"<p>{html.escape(about)}</p>{legend}"


def _colours(target: Any, n: int) -> tuple[list[str], str]:
    """Return a colour for each row, and a legend."""
    if target is None:
        return [Category10[10][0]] * n, ""
    values = list(target)
    labels = list(dict.fromkeys(values))
    if len(labels) <= MOST_LABELS:
        chosen = dict(zip(labels, Category10[10], strict=False))
        spots = "".join(
            f'<span class="key"><span style="color:{chosen[one]}">&#9679;</span> '
            f"{html.escape(str(one))}</span> "
            for one in sorted(labels, key=str)
        )
        return [chosen[v] for v in values], f"<p>{spots}</p>"
    if all(isinstance(v, int | float | np.integer | np.floating) for v in values):
        numbers = np.asarray(values, dtype=np.float64)
        low, high = float(numbers.min()), float(numbers.max())
        place = (255 * (numbers - low) / ((high - low) or 1.0)).astype(int)
        return [Viridis256[k] for k in place], f"<p>dark: {low:.4g}, bright: {high:.4g}</p>"
    return [
        Category10[10][labels.index(v) % 10] for v in values
    ], "<p>Colours repeat: the target has many labels.</p>"
