"""SMO and the perceptron, a step at a time."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from bokeh.layouts import column, row
from bokeh.models import Button, Div, Select

from mercer.play.figures import Curve
from mercer.play.fitted_view import view_of
from mercer.play.stepwise import RUNS, Run

if TYPE_CHECKING:
    from mercer.play.page import Page

__all__ = ["StepTab"]

MOST_STEPS = 100_000


class StepTab:
    """Advances an algorithm and shows the machine that it has reached.

    Parameters
    ----------
    page : Page
        The page it belongs to.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.run: Run | None = None
        wide = {"sizing_mode": "stretch_width"}
        self.algorithm = Select(title="Algorithm", options=list(RUNS), value="SMO", name="algorithm", **wide)
        self.buttons = [
            Button(label=label, name=f"step_{count}", **wide)
            for label, count in (("1 step", 1), ("10 steps", 10), ("100 steps", 100))
        ]
        self.restart = Button(label="Restart", name="restart", **wide)
        self.words = Div(name="step_words", **wide)
        self.curve = Curve()
        for button, count in zip(self.buttons, (1, 10, 100), strict=True):
            button.on_click(lambda count=count: self.advance(count))
        self.restart.on_click(self.begin_again)
        self.algorithm.on_change("value", lambda _a, _o, _n: self.begin_again())
        rows = row(*self.buttons, **wide)
        self.layout = column(self.algorithm, rows, self.restart, self.words, self.curve.figure, **wide)
        self.forget()

    def forget(self) -> None:
        """Start afresh: points or settings have changed."""
        self.run = None
        self.curve.show("", [])
        self.words.text = (
            "Each step of SMO changes two multipliers; each step of the perceptron is a mistake."
        )

    def begin_again(self) -> None:
        """Start afresh and show the finished machine until the first step."""
        self.forget()
        self.page.ask_for_update()

    def advance(self, count: int) -> None:
        """Take some steps."""
        if self.page.settings.task != "classification":
            self.words.text = "Choose a classifier: both algorithms separate classes."
            return
        try:
            if self.run is None:
                self.run = RUNS[self.algorithm.value](self.page.points, self.page.settings)
            if self.run.done or (self.run.curve and self.run.curve[-1][0] >= MOST_STEPS):
                return
            machine = self.run.advance(count)
        except ValueError as error:
            self.words.text = html.escape(str(error))
            return
        curve = self.run.curve
        self.page.show(view_of(machine, self.page.points, self.page.settings))
        self.curve.show(self.run.measure, curve)
        taken = (
            f"after {curve[-1][0]} steps: {self.run.measure} {curve[-1][1]:.4g}" if curve else "no mistake"
        )
        self.words.text = html.escape(taken + (", finished" if self.run.done else ""))
