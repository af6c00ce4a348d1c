"""The pictures of the page: the board, the curve of an algorithm, the projection of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    LinearColorMapper,
    PointDrawTool,
    Range1d,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.transform import factor_cmap, factor_mark
from contourpy import contour_generator

from mercer.play.fitted_view import GRID, View
from mercer.play.presets import CLASSES, EDGE, Points

__all__ = ["COLOURS", "Board", "Curve", "Scatter"]

COLOURS = ("#0072b2", "#d55e00", "#009e73")  # told apart with any colour vision
PALE = ("#cfe5f2", "#f8dcc8", "#cdeade")
INK = {"light": ("#ffffff", "#222222", "#dddddd"), "dark": ("#15191c", "#e8e8e8", "#3a4045")}


def _shades(dark: bool) -> list[str]:
    """Return the colours of decisions from class A to class B."""
    ends = [np.array([int(c[i : i + 2], 16) for i in (1, 3, 5)]) for c in COLOURS[:2]]
    middle = np.array([0x15, 0x19, 0x1C] if dark else [0xFF, 0xFF, 0xFF])
    strength = np.linspace(-0.55, 0.55, 129)
    mixed = [middle + abs(s) * (ends[int(s > 0)] - middle) for s in strength]
    return ["#" + "".join(f"{round(v):02x}" for v in one) for one in mixed]


class Board:
    """The square on which points are drawn and the machine is shown."""

    def __init__(self) -> None:
        self.pale, self.shades = PALE, _shades(False)
        names = ("x", "y", "group")
        self.points = ColumnDataSource({name: [] for name in names}, name="points")
        self.points.default_values = {"group": CLASSES[0]}
        self.rings = ColumnDataSource({name: [] for name in ("x", "y", "size")})
        self.slacks = ColumnDataSource({name: [] for name in ("x0", "y0", "x1", "y1")})
        facts = ("x", "y", "group", "decision", "multiplier", "slack")
        self.facts = ColumnDataSource({name: [] for name in facts}, name="facts")
        self.curve = ColumnDataSource({name: [] for name in ("x", "f", "low", "high")})
        self.image = ColumnDataSource({"values": [np.zeros((2, 2))]})
        self.figure = figure(
            x_range=Range1d(-EDGE, EDGE, bounds=(-EDGE, EDGE)),
            y_range=Range1d(-EDGE, EDGE, bounds=(-EDGE, EDGE)),
            tools="",
            toolbar_location=None,
            sizing_mode="scale_width",
            aspect_ratio=1.0,
            min_width=300,
            max_width=640,
            name="board",
        )
        self.colours = LinearColorMapper(palette=_shades(False), low=-2.0, high=2.0)
        self.picture = self.figure.image(
            image="values", x=-EDGE, y=-EDGE, dw=2 * EDGE, dh=2 * EDGE, source=self.image,
            color_mapper=self.colours, level="image",
        )  # fmt: skip
        self.boundary = ColumnDataSource({"xs": [], "ys": []}, name="boundary")
        self.margins = ColumnDataSource({"xs": [], "ys": []})
        style = {"line_color": "#222222", "line_width": 1.3, "line_dash": "dashed"}
        self.margin_lines = self.figure.multi_line("xs", "ys", source=self.margins, **style)
        style = {"line_color": "#222222", "line_width": 2.4}
        self.boundary_lines = self.figure.multi_line("xs", "ys", source=self.boundary, **style)
        self.tube = self.figure.varea("x", "low", "high", source=self.curve, alpha=0.3, color=COLOURS[0])
        self.line = self.figure.line("x", "f", source=self.curve, line_width=2.4, color="#222222")
        self.figure.segment("x0", "y0", "x1", "y1", source=self.slacks, color="#888888", line_width=1.2)
        style = {"fill_color": None, "line_color": "#222222", "line_width": 1.6}
        self.circles = self.figure.scatter("x", "y", size="size", source=self.rings, **style)
        self.dots = self.figure.scatter(
            "x", "y", source=self.points, size=8, line_color="white", line_width=0.7,
            fill_color=factor_cmap("group", COLOURS, CLASSES),
            marker=factor_mark("group", ("circle", "square", "triangle"), CLASSES),
        )  # fmt: skip
        unseen = self.figure.scatter("x", "y", source=self.facts, size=12, alpha=0.0)
        hover = HoverTool(
            renderers=[unseen],
            tooltips=[
                ("point", "#$index, class @group"),
                ("x, y", "@x{0.000}, @y{0.000}"),
                ("decision", "@decision{0.000}"),
                ("multiplier", "@multiplier{0.0000}"),
                ("slack", "@slack{0.000}"),
            ],
        )
        self.draw = PointDrawTool(renderers=[self.dots])
        wheel = WheelZoomTool()
        self.figure.add_tools(self.draw, hover, wheel)
        self.figure.toolbar.active_tap = self.draw
        self.figure.toolbar.active_drag = self.draw
        self.figure.xgrid.visible = self.figure.ygrid.visible = False

    def place(self, points: Points) -> None:
        """Put points on the board in the place of what is there."""
        names = [CLASSES[g] for g in points.group]
        self.points.data = {"x": points.x.tolist(), "y": points.y.tolist(), "group": names}

    def show(self, points: Points, view: View, task: str) -> None:
        """Draw a fitted machine."""
        largest = float(np.nanmax(view.multiplier, initial=0.0))
        support = (
            np.flatnonzero(view.multiplier > 1e-8 * largest) if largest > 0.0 else np.zeros(0, dtype=int)
        )
        size = 11.0 + 9.0 * view.multiplier[support] / (largest or 1.0)
        self.rings.data = {"x": points.x[support], "y": points.y[support], "size": size}
        short = np.flatnonzero(view.slack > 1e-9)
        self.slacks.data = {
            "x0": points.x[short], "y0": points.y[short], "x1": view.tip[short, 0], "y1": view.tip[short, 1],
        }  # fmt: skip
        self.facts.data = {
            "x": points.x, "y": points.y, "group": [CLASSES[g] for g in points.group],
            "decision": view.decision, "multiplier": view.multiplier, "slack": view.slack,
        }  # fmt: skip
        self.picture.visible = view.grid is not None
        self.tube.visible = self.line.visible = view.curve is not None
        self.figure.yaxis.axis_label = "target" if task == "regression" else None
        if view.curve is not None:
            x, f, half = view.curve
            self.curve.data = {"x": x, "f": f, "low": f - half, "high": f + half}
        if view.grid is not None:
            self._show_grid(view.grid, view.model)
        else:
            self.boundary.data = self.margins.data = {"xs": [], "ys": []}

    def _show_grid(self, grid: np.ndarray, model: Any) -> None:
        classes = getattr(model, "classes_", None)
        if classes is not None and len(classes) > 2:  # class numbers: a pale colour each, lines between them
            self.colours.update(palette=list(self.pale), low=-0.5, high=2.5)
            self.boundary.data = _lines([((grid == c).astype(float), 0.5) for c in classes])
            self.margins.data = _lines([])
        elif classes is not None:
            self.colours.update(palette=self.shades, low=-2.0, high=2.0)
            self.boundary.data = _lines([(grid, 0.0)])
            self.margins.data = _lines([(grid, -1.0), (grid, 1.0)])
        else:  # the decisions of a detector have a scale of their own
            self.colours.update(palette=self.shades, low=-1.0, high=1.0)
            self.boundary.data = _lines([(grid, 0.0)])
            self.margins.data = _lines([])
            inside, outside = max(float(grid.max()), 1e-12), max(float(-grid.min()), 1e-12)
            grid = -np.where(grid > 0.0, grid / inside, grid / outside)  # inside has the colour of the points
        self.image.data = {"values": [grid]}

    def dress(self, theme: str) -> None:
        """Take the colours of the light or the dark page."""
        ink = INK[theme][1]
        self.shades = _shades(theme == "dark")
        self.pale = PALE if theme == "light" else ("#12384d", "#4d2a10", "#0d4034")
        dress(self.figure, theme)
        for drawn in (self.line, self.circles, self.boundary_lines, self.margin_lines):
            drawn.glyph.line_color = ink


def dress(picture: Any, theme: str) -> None:
    """Give a figure the colours of the page."""
    ground, ink, faint = INK[theme]
    picture.background_fill_color = picture.border_fill_color = ground
    picture.outline_line_color = faint
    for axis in picture.axis:
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = faint
        axis.major_label_text_color = axis.axis_label_text_color = ink
    for grid in picture.grid:
        grid.grid_line_color = faint
        grid.grid_line_alpha = 0.4
    picture.title.text_color = ink


def _lines(levels: list[tuple[np.ndarray, float]]) -> dict[str, list[Any]]:
    """Return the lines on which each of some grids has its level, as a source of bokeh's."""
    side = np.linspace(-EDGE, EDGE, GRID)
    found: list[Any] = [line for grid, at in levels for line in contour_generator(side, side, grid).lines(at)]
    return {"xs": [line[:, 0] for line in found], "ys": [line[:, 1] for line in found]}


class Curve:
    """How far an algorithm is: its gap or its mistakes after each step."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"step": [], "value": []}, name="curve")
        self.figure = figure(
            height=240, sizing_mode="stretch_width", min_width=280, toolbar_location=None, tools="",
            y_axis_type="log", x_axis_label="steps", name="curve_figure",
        )  # fmt: skip
        self.figure.line("step", "value", source=self.source, line_width=2, color=COLOURS[0])
        self.figure.scatter("step", "value", source=self.source, size=5, color=COLOURS[0])

    def show(self, measure: str, curve: list[tuple[int, float]]) -> None:
        """Draw the curve; a logarithm has no place for zero."""
        kept = [(k, v) for k, v in curve if v > 0.0]
        self.figure.yaxis.axis_label = measure
        self.source.data = {"step": [k for k, _ in kept], "value": [v for _, v in kept]}


class Scatter:
    """Rows of a file on two kernel principal components."""

    def __init__(self) -> None:
        self.source = ColumnDataSource(
            {name: [] for name in ("x", "y", "colour", "told", "target")}, name="rows"
        )
        self.figure = figure(
            sizing_mode="scale_width", aspect_ratio=1.25, min_width=300, max_width=760, toolbar_location=None,
            tools="pan,wheel_zoom,reset", name="rows_figure",
        )  # fmt: skip
        self.figure.scatter("x", "y", source=self.source, size=7, color="colour", alpha=0.8, line_color=None)
        self.figure.add_tools(HoverTool(tooltips=[("", "@told"), ("target", "@target")]))
