"""What the page computes, without a page."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("bokeh")

import mercer
from mercer.play.as_python import as_python
from mercer.play.catalogue import KERNELS, MACHINES, Settings, build, control_names, parameters
from mercer.play.fitted_view import GRID, MOST_POINTS, clean, data_of, fit_view
from mercer.play.presets import CLASSES, EDGE, PRESETS, preset
from mercer.play.stepwise import PerceptronRun, SmoRun


@pytest.mark.parametrize("name", PRESETS)
def test_presets_lie_on_the_board_and_never_change(name):
    task, points = preset(name)
    _, again = preset(name)
    assert task in {"classification", "regression", "novelty"}
    np.testing.assert_array_equal(points.x, again.x)
    assert np.abs(points.x).max() <= EDGE
    assert np.abs(points.y).max() <= EDGE
    if task == "classification":
        assert np.unique(points.group).size >= 2


def test_every_machine_can_be_built_with_every_kernel():
    for machine in MACHINES:
        for kernel in KERNELS:
            settings = Settings(machine=machine, kernel=kernel)
            model = build(settings)
            assert type(model).__name__ == machine
            for name in control_names(settings):
                assert name in model.get_params()


@pytest.mark.parametrize("machine", MACHINES)
def test_a_view_shows_the_machine_that_fit_returns(machine):
    task = MACHINES[machine].task
    points = preset({"classification": "Moons", "regression": "Noisy sine", "novelty": "Ring"}[task])[1]
    settings = Settings(machine=machine)
    view = fit_view(points, settings)
    X, y = data_of(points, task)
    assert view.message == ""
    assert np.isfinite(view.multiplier).all()
    if task == "regression":
        np.testing.assert_allclose(view.decision, view.model.predict(X))
        assert view.grid is None
    else:
        side = np.linspace(-EDGE, EDGE, GRID)
        there = view.model.decision_function(np.array([[side[7], side[40]]]))
        np.testing.assert_allclose(view.grid[40, 7], there[0], rtol=1e-9, atol=1e-12)
    if machine == "SVC":
        sign = np.where(y == 1, 1.0, -1.0)
        np.testing.assert_allclose(view.slack, np.maximum(0.0, 1.0 - sign * view.decision))
        assert set(np.flatnonzero(view.multiplier)) == set(view.model.support_)
        value = 0.5 / view.model.margin_**2 + settings.C * view.slack.sum()
        np.testing.assert_allclose(value, view.model.certificate_.primal, rtol=1e-6)


def test_the_line_of_a_slack_ends_on_the_margin_of_a_linear_machine():
    points = preset("Two Gaussians")[1]
    view = fit_view(points, Settings(kernel="linear", C=0.1))
    short = np.flatnonzero(view.slack > 1e-6)
    assert short.size > 3
    length = np.hypot(*(view.tip[short] - np.column_stack([points.x, points.y])[short]).T)
    inside = short[length < 1.49]  # longer lines are cut
    value = view.model.decision_function(view.tip[inside])
    sign = np.where(points.group[inside] == 1, 1.0, -1.0)
    np.testing.assert_allclose(sign * value, 1.0, atol=1e-6)


def test_what_a_browser_sends_is_not_trusted():
    data = {
        "x": [0.5, "1e5; drop", None, float("nan"), 1e300, True, [1], 2.0],
        "y": [0.25, 1.0, 2.0, 0.0, -1e300, 1.0, 1.0, 2.0, 3.0],
        "group": ["A", "B", "A", "B", "C", 7, "A", "not a class", "A"],
    }
    points = clean(data)
    np.testing.assert_array_equal(points.x, [0.5, EDGE])
    np.testing.assert_array_equal(points.y, [0.25, -EDGE])
    np.testing.assert_array_equal(points.group, [0, 2])
    assert clean({}).n == 0
    many = {"x": [0.0] * 5000, "y": [0.0] * 5000, "group": ["A"] * 5000}
    assert clean(many).n == MOST_POINTS


@pytest.mark.parametrize(
    ("data", "settings", "words"),
    [
        ({}, Settings(), "Click on the board"),
        ({"x": [0, 1], "y": [0, 1], "group": ["A", "A"]}, Settings(), "two classes"),
        (
            {"x": [0, 1, 2], "y": [0, 1, 0], "group": ["A", "A", "B"]},
            Settings(machine="NuSVC", nu=0.9),
            "nu=0.9",
        ),
    ],
)
def test_a_board_that_cannot_be_learned_says_why(data, settings, words):
    view = fit_view(clean(data), settings)
    assert view.model is None
    assert words in view.message


def test_smo_step_by_step_is_smo():
    points = preset("Moons")[1]
    run = SmoRun(points, Settings())
    while not run.done:
        machine = run.advance(25)
    steps, gaps = zip(*run.curve, strict=True)
    assert list(steps) == sorted(set(steps))
    assert gaps[-1] < 1e-3 * gaps[0]
    whole = mercer.SVC(kernel="rbf", gamma=0.5, C=1.0, solver="smo").fit(*data_of(points, "classification"))
    np.testing.assert_allclose(machine.dual_coef_, whole.dual_coef_)


def test_each_step_of_the_perceptron_is_a_mistake():
    run = PerceptronRun(preset("Moons")[1], Settings())
    before = run.machine.mistakes_
    for k in range(1, 6):
        machine = run.advance(1)
        assert machine.mistakes_ == before + k
    while not run.done:
        run.advance(50)
    X, y = data_of(preset("Moons")[1], "classification")
    assert (run.machine.predict(X) == y).all()  # separable with this kernel


@pytest.mark.parametrize("machine", ["SVC", "SVR", "OneClassSVM", "KernelPerceptron"])
def test_copied_code_fits_the_same_machine(machine):
    task = MACHINES[machine].task
    points = preset({"classification": "Spirals", "regression": "Noisy sine", "novelty": "Ring"}[task])[1]
    settings = Settings(machine=machine, gamma=2.0)
    made = {}
    exec(as_python(points, settings), made)
    np.testing.assert_allclose(
        made["model"].dual_coef_, fit_view(points, settings).model.dual_coef_, rtol=1e-9
    )


def test_parameters_are_those_on_the_page():
    assert parameters(Settings(machine="SVC", kernel="linear", loss="squared_hinge")) == {
        "kernel": "linear",
        "loss": "squared_hinge",
        "C": 1.0,
    }
    assert parameters(Settings(machine="NuSVC"))["nu"] == 0.2
    assert "gamma" in control_names(Settings(kernel="poly"))
    assert set(CLASSES) == {"A", "B", "C"}
