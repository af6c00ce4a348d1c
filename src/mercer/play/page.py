"""The page: its controls, and what happens when a person touches them."""

from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.events import DocumentReady, DoubleTap, Pan, PanStart, Tap
from bokeh.layouts import column, row
from bokeh.models import (
    Button,
    CustomJS,
    Div,
    InlineStyleSheet,
    PreText,
    RadioButtonGroup,
    Select,
    Slider,
    TabPanel,
    Tabs,
    TextInput,
    Toggle,
)

from mercer.io import save
from mercer.play.as_python import as_python
from mercer.play.catalogue import KERNELS, MACHINES, Settings, control_names
from mercer.play.figures import Board, dress
from mercer.play.file_rows import FileRows
from mercer.play.file_tab import FileTab
from mercer.play.fitted_view import MOST_POINTS, View, clean, fit_view
from mercer.play.path_tab import PathTab
from mercer.play.presets import CLASSES, EDGE, PRESETS, Points, preset
from mercer.play.step_tab import StepTab
from mercer.play.styles import dress_all, power_of_ten
from mercer.play.words import bounds_html, certificate_html

__all__ = ["Page"]

GESTURES = ("Add and move", "Draw a cloud", "Erase")
CLOUD, SPREAD, REACH = 12, 0.35, 0.25  # points a click; their spread; how far the eraser reaches

# The parameters with a slider: name on the page, whether it moves by powers of ten, from, to, step.
SLIDERS = {
    "C": ("C (cost of errors)", True, -3.0, 5.0, 0.05),
    "nu": ("nu", False, 0.01, 0.99, 0.01),
    "gamma": ("gamma (kernel width)", True, -3.0, 2.0, 0.05),
    "epsilon": ("epsilon (tube)", False, 0.0, 1.5, 0.01),
    "alpha": ("alpha (penalty)", True, -5.0, 3.0, 0.05),
    "degree": ("degree", False, 1, 8, 1),
}


def _control(name: str, value: float) -> Slider:
    title, powers, low, high, step = SLIDERS[name]
    at = float(np.log10(value)) if powers else value
    shown = {"format": power_of_ten()}
    return Slider(
        title=title, start=low, end=high, step=step, value=at, sizing_mode="stretch_width", name=name,
        **(shown if powers else {}),
    )  # fmt: skip


class Page:
    """One open page.

    Parameters
    ----------
    document : Document
        Bokeh's, to be filled.
    folder : Path
        Where "save model" writes.
    rows : FileRows, optional
        The person's own file.
    """

    def __init__(self, document: Document, folder: Path, rows: FileRows | None = None) -> None:
        self.document, self.folder = document, folder
        self.settings = Settings()
        self.board = Board()
        self.view: View | None = None
        self.points: Points = preset("Two Gaussians")[1]
        self.waiting = False
        self.saved: set[Path] = set()
        self.rng = np.random.default_rng()
        self._make_controls()
        self.certificate = Div(sizing_mode="stretch_width", name="certificate")
        self.bounds = Div(sizing_mode="stretch_width", name="bounds")
        self.code = PreText(sizing_mode="stretch_width", name="code")
        self.path = PathTab(self)
        self.steps = StepTab(self)
        self.file = FileTab(rows) if rows is not None else None
        self.tabs = self._make_tabs()
        self._listen()
        self._lay_out()  # at the end: a button that is in the document already sends no clicks
        self.place(self.points, "classification")

    # -- controls --------------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        wide = {"sizing_mode": "stretch_width"}
        self.preset = Select(
            title="Preset", options=list(PRESETS), value="Two Gaussians", name="preset", **wide
        )
        self.gesture = RadioButtonGroup(labels=list(GESTURES), active=0, name="gesture", **wide)
        self.group = RadioButtonGroup(labels=[f"Class {c}" for c in CLASSES], active=0, name="group", **wide)
        self.clear = Button(label="Clear the board", name="clear", **wide)
        self.machine = Select(title="Estimator", options=list(MACHINES), value="SVC", name="machine", **wide)
        self.kernel = Select(title="Kernel", options=list(KERNELS), value="rbf", name="kernel", **wide)
        self.loss = Select(
            title="Loss", options=list(MACHINES["SVC"].losses), value="hinge", name="loss", **wide
        )
        self.sliders = {name: _control(name, getattr(self.settings, name)) for name in SLIDERS}
        self.dark = Toggle(label="Dark", active=False, name="dark", width=70)

    def _make_tabs(self) -> Tabs:
        copy = Button(label="Copy as Python", name="copy", sizing_mode="stretch_width")
        copy.js_on_click(CustomJS(args={"code": self.code}, code="navigator.clipboard.writeText(code.text)"))
        self.file_name = TextInput(
            title="File name", value="played.mercer", name="file_name", sizing_mode="stretch_width"
        )
        self.save = Button(label="Save model", name="save", sizing_mode="stretch_width")
        self.save_words = Div(name="save_words", sizing_mode="stretch_width")
        wide = {"sizing_mode": "stretch_width"}
        model = column(self.file_name, self.save, self.save_words, copy, self.code, **wide)
        panels = [
            TabPanel(title="Certificate", child=column(self.certificate, **wide)),
            TabPanel(title="Bounds", child=column(self.bounds, **wide)),
            TabPanel(title="Path", child=self.path.layout),
            TabPanel(title="Steps", child=self.steps.layout),
            TabPanel(title="Python", child=model),
        ]
        if self.file is not None:
            panels.append(TabPanel(title="Your file", child=self.file.layout))
        # The widest of all tabs, seen or not, must not widen the page on a telephone.
        narrow = InlineStyleSheet(css=":host { grid-template-columns: minmax(0, 1fr) !important; }")
        return Tabs(tabs=panels, name="tabs", sizing_mode="stretch_width", stylesheets=[narrow])

    def _lay_out(self) -> None:
        head = Div(text="<h1>mercer play</h1>", sizing_mode="stretch_width")
        choices = [self.preset, self.gesture, self.group, self.machine, self.kernel, self.loss]
        left = column(*choices, *self.sliders.values(), self.clear, css_classes=["pane", "controls"])
        middle = column(self.board.figure, css_classes=["pane", "middle"])
        right = column(self.tabs, css_classes=["pane", "right"])
        panes = row(left, middle, right, css_classes=["panes"], sizing_mode="stretch_width")
        panes.styles = {"flex-wrap": "wrap"}
        left.styles = {"flex": "1 1 250px", "max-width": "340px", "min-width": "250px"}
        middle.styles = {"flex": "2 1 340px", "max-width": "640px", "min-width": "300px"}
        right.styles = {"flex": "2 1 340px", "min-width": "300px", "max-width": "760px"}
        top = row(head, self.dark, sizing_mode="stretch_width")
        root = column(top, panes, sizing_mode="stretch_width")
        dress_all(root)
        self.document.add_root(root)
        self.document.title = "mercer play"

    def _listen(self) -> None:
        self.preset.on_change("value", lambda _a, _o, new: self.take_preset(new))
        self.machine.on_change("value", lambda _a, _o, _n: self.choose())
        self.kernel.on_change("value", lambda _a, _o, _n: self.choose())
        self.loss.on_change("value", lambda _a, _o, _n: self.choose())
        for slider in self.sliders.values():
            slider.on_change("value", lambda _a, _o, _n: self.choose())
        self.clear.on_click(lambda: self.place(clean({}), self.settings.task))
        self.save.on_click(self.save_model)
        self.group.on_change("active", lambda _a, _o, new: self._set_class(new))
        self.gesture.on_change("active", lambda _a, _o, new: self._set_gesture(new))
        self.board.points.on_change("data", lambda _a, _o, _n: self.ask_for_update())
        self.board.figure.on_event(Tap, self._tap)
        self.board.figure.on_event(DoubleTap, self._tap)  # the second of two quick clicks
        self.board.figure.on_event(Pan, self._stroke)
        self.board.figure.on_event(PanStart, self._stroke)
        self.dark.on_change("active", lambda _a, _o, _n: self.dress())
        wish = "if (window.matchMedia('(prefers-color-scheme: dark)').matches) { dark.active = true }"
        self.document.js_on_event(DocumentReady, CustomJS(args={"dark": self.dark}, code=wish))
        look = "document.documentElement.dataset.theme = dark.active ? 'dark' : 'light'"
        self.dark.js_on_change("active", CustomJS(args={"dark": self.dark}, code=look))

    # -- what a person does ----------------------------------------------------------------------------

    def take_preset(self, name: str) -> None:
        """Put a preset on the board, with a machine for its task."""
        if name not in PRESETS:
            return
        task, points = preset(name)
        self.place(points, task)

    def place(self, points: Points, task: str) -> None:
        """Put points on the board; choose a machine for the task where the chosen one has another."""
        self.board.place(points)
        if MACHINES[self.machine.value].task != task:
            self.machine.value = next(name for name, one in MACHINES.items() if one.task == task)
        self.choose()

    def choose(self) -> None:
        """Read the controls, show those that have a say, and fit."""
        if self.machine.value not in MACHINES or self.kernel.value not in KERNELS:
            return
        losses = list(MACHINES[self.machine.value].losses)
        if losses and self.loss.options != losses:
            self.loss.options = losses
            self.loss.value = losses[0]
        values: dict[str, Any] = {}
        for name, slider in self.sliders.items():
            low, high = SLIDERS[name][2:4]
            at = float(np.clip(slider.value, low, high))
            values[name] = float(f"{10.0**at:.4g}") if SLIDERS[name][1] else at
        values["degree"] = int(values["degree"])
        values |= {"machine": self.machine.value, "kernel": self.kernel.value, "loss": self.loss.value}
        self.settings = replace(self.settings, **values)
        shown = control_names(self.settings)
        self.loss.visible = "loss" in shown
        for name, slider in self.sliders.items():
            slider.visible = name in shown
        self.group.visible = self.settings.task == "classification"
        self.ask_for_update()

    def _set_class(self, active: int) -> None:
        group = CLASSES[active] if active in range(len(CLASSES)) else CLASSES[0]
        self.board.points.default_values = {"group": group}

    def _set_gesture(self, active: int) -> None:
        self.board.draw.add = self.board.draw.drag = active == 0
        self.board.figure.toolbar.active_drag = self.board.draw if active == 0 else None
        self.board.figure.toolbar.active_tap = self.board.draw if active == 0 else None

    def _tap(self, event: Any) -> None:
        if self.gesture.active == 1:
            self._spray(event.x, event.y, CLOUD)
        elif self.gesture.active == 2:
            self._erase(event.x, event.y)

    def _stroke(self, event: Any) -> None:
        if self.gesture.active == 1:
            self._spray(event.x, event.y, 2)
        elif self.gesture.active == 2:
            self._erase(event.x, event.y)

    def _spray(self, x: float | None, y: float | None, count: int) -> None:
        now = clean(dict(self.board.points.data))
        count = min(count, MOST_POINTS - now.n)
        if x is None or y is None or count <= 0:
            return
        new = self.rng.normal((float(x), float(y)), SPREAD, (count, 2))
        new = np.clip(np.round(new, 4), -EDGE, EDGE)
        group = np.full(count, self.group.active if self.group.active in range(len(CLASSES)) else 0)
        joined = np.r_[now.x, new[:, 0]], np.r_[now.y, new[:, 1]], np.r_[now.group, group]
        self.board.place(Points(*joined))

    def _erase(self, x: float | None, y: float | None) -> None:
        now = clean(dict(self.board.points.data))
        if x is None or y is None:
            return
        keep = np.hypot(now.x - float(x), now.y - float(y)) > REACH
        if not keep.all():
            self.board.place(Points(now.x[keep], now.y[keep], now.group[keep]))

    def save_model(self) -> None:
        """Write the model beside where the command was started."""
        name = self.file_name.value.strip()
        path = self.folder / (name if name.endswith(".mercer") else f"{name}.mercer")
        if self.view is None or self.view.model is None:
            words = "There is no model to save."
        elif not name or Path(name).name != name or name.startswith("."):
            words = "Give a file name without folders."
        elif path.exists() and path not in self.saved:
            words = f"{path.name} exists already: choose another name."
        else:
            try:
                save(self.view.model, path)
                self.saved.add(path)
                words = f"Saved {path.name}. Load it with mercer.load({path.name!r})."
            except OSError as error:
                words = f"{path.name} cannot be written: {error.strerror}"
        self.save_words.text = html.escape(words)

    def dress(self) -> None:
        """Take the colours of the light or the dark page."""
        theme = "dark" if self.dark.active else "light"
        self.board.dress(theme)
        dress(self.steps.curve.figure, theme)
        if self.file is not None:
            dress(self.file.scatter.figure, theme)
        self.ask_for_update()

    # -- what follows ----------------------------------------------------------------------------------

    def ask_for_update(self) -> None:
        """Fit again at the next occasion; many requests before it are one."""
        if not self.waiting:
            self.waiting = True
            self.document.add_next_tick_callback(self.update)

    def update(self) -> None:
        """Fit what is on the board and show it."""
        self.waiting = False
        self.points = clean(dict(self.board.points.data))
        self.path.forget()
        self.steps.forget()
        self.show(fit_view(self.points, self.settings))
        self.code.text = as_python(self.points, self.settings) if self.points.n else ""

    def show(self, view: View) -> None:
        """Show a machine: the one of the controls, one of the path, or one on the way to it."""
        self.view = view
        self.board.show(self.points, view, self.settings.task)
        self.certificate.text = certificate_html(view, self.points.n)
        self.bounds.text = bounds_html(view, self.points, self.settings.task)
