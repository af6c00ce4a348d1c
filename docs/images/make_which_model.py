"""Draw the chart of docs/which_model.md: ``python docs/images/make_which_model.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

QUESTIONS = {
    "start": (0.6, 6.0, "Is there a target?"),
    "kind": (3.5, 6.0, "What is the target?"),
    "rows": (6.7, 7.35, "More than\n100,000 rows?"),
    "proba": (9.4, 6.75, "Probabilities?"),
    "rows2": (6.7, 4.55, "More than\n100,000 rows?"),
    "uncertain": (9.4, 3.95, "Uncertainty?"),
    "novel": (0.6, 1.6, "What is sought?"),
}
ANSWERS = {
    "linear": (12.9, 7.75, 'LinearSVC, or SVC with\napproximation="nystroem"'),
    "logistic": (12.9, 6.95, "KernelLogisticRegression,\nGaussianProcessClassifier"),
    "svc": (12.9, 6.15, "SVC"),
    "linear2": (12.9, 5.05, 'LinearSVR, or KernelRidge\nwith approximation="nystroem"'),
    "gp": (12.9, 4.2, "GaussianProcessRegressor,\nConformalRegressor"),
    "svr": (12.9, 3.4, "SVR, KernelRidge"),
    "other": (
        8.2,
        1.7,
        "ordered classes: OrdinalSVC\na ranking: RankSVM\nsequences, label sets: StructuredSVM",
    ),
    "detect": (4.3, 2.3, "OneClassSVM, SVDD"),
    "cluster": (4.3, 1.6, "KernelKMeans"),
    "project": (4.3, 0.9, "KernelPCA"),
}
ARROWS = [
    ("start", "kind", "yes"), ("start", "novel", "no"),
    ("kind", "rows", "classes"), ("kind", "rows2", "numbers"), ("kind", "other", "something else"),
    ("rows", "linear", "yes"), ("rows", "proba", "no"), ("proba", "logistic", "yes"), ("proba", "svc", "no"),
    ("rows2", "linear2", "yes"), ("rows2", "uncertain", "no"),
    ("uncertain", "gp", "yes"), ("uncertain", "svr", "no"),
    ("novel", "detect", "unusual rows"), ("novel", "cluster", "groups"), ("novel", "project", "a map"),
]  # fmt: skip

figure, axes = plt.subplots(figsize=(11.5, 6.2))
axes.set(xlim=(-0.4, 14.2), ylim=(0.4, 8.2))
axes.axis("off")
place = {**QUESTIONS, **ANSWERS}
drawn = {}
for name, (x, y, text) in place.items():
    asked = name in QUESTIONS
    style = {"boxstyle": "round,pad=0.4" if asked else "square,pad=0.4", "lw": 1.2}
    style |= {"fc": "#e8f1f8", "ec": "#0072b2"} if asked else {"fc": "#fdf1e6", "ec": "#d55e00"}
    font = {"fontsize": 9} if asked else {"fontsize": 8, "family": "monospace"}
    drawn[name] = axes.text(x, y, text, ha="center", va="center", bbox=style, **font)
figure.canvas.draw()
for start, end, label in ARROWS:
    (x0, y0, _), (x1, y1, _) = place[start], place[end]
    ends = {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}
    arrow = {"arrowstyle": "-|>", "color": "#777777", "lw": 1.0, "shrinkA": 0, "shrinkB": 1, **ends}
    axes.annotate("", xy=(x1, y1), xytext=(x0, y0), zorder=0, arrowprops=arrow)
    t = 0.5 if start == "start" else 0.45
    words = {"fontsize": 8, "color": "#444444", "ha": "center", "va": "center"}
    ground = {"fc": "white", "ec": "none", "pad": 0.8}
    axes.text(x0 + t * (x1 - x0), y0 + t * (y1 - y0), label, bbox=ground, **words)
figure.savefig(Path(__file__).with_name("which_model.png"), dpi=110, bbox_inches="tight", pad_inches=0.05)
