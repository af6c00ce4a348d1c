"""A slider along the exact regularisation path."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import Button, Div, Slider

from mercer import estimators
from mercer.play.catalogue import MACHINES, parameters
from mercer.play.fitted_view import data_of, view_of
from mercer.play.styles import power_of_ten

if TYPE_CHECKING:
    from mercer.play.page import Page

__all__ = ["PathTab"]

SECONDS = 10.0
LARGEST_C = 1e4


class PathTab:
    """Follows the solution for all C at once, and shows any of them.

    Parameters
    ----------
    page : Page
        The page it belongs to.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.path: Any = None
        self.resting = False
        wide = {"sizing_mode": "stretch_width"}
        self.words = Div(name="path_words", **wide)
        self.start = Button(label="Compute the regularisation path", name="path_start", **wide)
        shown = power_of_ten()
        self.slider = Slider(
            title="C", start=-2, end=2, step=0.01, value=0, name="path_C", format=shown, **wide
        )
        self.slider.visible = False
        self.start.on_click(self.follow)
        self.slider.on_change("value", lambda _a, _o, _n: self.look())
        self.layout = column(self.start, self.slider, self.words, **wide)
        self.forget()

    def forget(self) -> None:
        """Drop the path: points or settings have changed."""
        self.path = None
        self.slider.visible = False
        possible = bool(MACHINES[self.page.settings.machine].path)
        self.start.disabled = not possible
        able = [name for name, one in MACHINES.items() if one.path]
        self.words.text = (
            "The exact solution for every C, with a slider along it."
            if possible
            else f"The path exists for {' and '.join(able)}: choose one of them."
        )

    def follow(self) -> None:
        """Compute the path of the machine on the board."""
        settings, points = self.page.settings, self.page.points
        chosen = parameters(settings)
        if chosen.pop("loss", "").startswith("squared"):
            self.words.text = "The path exists for the plain loss only: choose hinge or epsilon_insensitive."
            return
        chosen.pop("C", None)
        X, y = data_of(points, settings.task)
        made = getattr(estimators, MACHINES[settings.machine].path)(
            C_max=LARGEST_C, time_limit=SECONDS, **chosen
        )
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                made.fit(X, y)
            except ValueError as error:
                self.words.text = str(error)
                return
        self.path = made
        low, high = made.C_range_
        knots = made.Cs_ if isinstance(made.Cs_, list) else [made.Cs_]
        least = max(min(float(np.min(c[c > 0.0], initial=high)) for c in knots) / 10.0, low, 1e-6)
        self.resting = True
        self.slider.update(start=float(np.log10(least)), end=float(np.log10(high)))
        self.slider.value = float(np.clip(np.log10(settings.C), self.slider.start, self.slider.end))
        self.resting = False
        self.slider.visible = True
        count = sum(len(c) for c in knots)
        notes = " ".join(str(one.message) for one in found)
        self.words.text = (
            f"{count} breakpoints from C = {least:.3g} to {high:.3g}; exact between them. {notes}"
        )
        self.look()

    def look(self) -> None:
        """Show the machine of the path at the slider's C."""
        if self.path is None or self.resting:
            return
        low, high = self.path.C_range_
        C = float(np.clip(10.0**self.slider.value, max(low, 1e-9), high))
        self.page.show(view_of(self.path.at(C), self.page.points, self.page.settings))
