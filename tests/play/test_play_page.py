"""The page's own life, without a browser: controls, gestures, tabs, files."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("bokeh")

from bokeh.document import Document

import mercer
from mercer.play.file_rows import FileRows, kernel_pca, row_text, sample_rows
from mercer.play.page import Page
from mercer.play.presets import PRESETS


@pytest.fixture
def page(tmp_path):
    page = Page(Document(), tmp_path)
    page.update()
    return page


def set_to(page, name, value):
    getattr(page, name).value = value
    page.update()


def test_it_opens_with_a_fitted_machine(page):
    assert page.view.model.certificate_.status == "optimal"
    assert "proved within" in page.certificate.text
    assert "misclassified" in page.bounds.text
    assert "mercer.SVC(" in page.code.text


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_fitted_by_a_machine_for_its_task(page, name):
    set_to(page, "preset", name)
    assert page.view.model is not None
    assert page.settings.task == PRESETS[name][0]
    assert page.certificate.text
    assert page.bounds.text


def test_sliders_move_by_powers_of_ten_and_fit_again(page):
    before = page.view.model.support_.size
    page.sliders["C"].value = 3.0
    page.update()
    assert page.view.model.C == 1000.0
    assert page.view.model.support_.size < before


def test_only_controls_that_have_a_say_are_shown(page):
    set_to(page, "machine", "NuSVC")
    assert page.sliders["nu"].visible
    assert not page.sliders["C"].visible
    assert not page.loss.visible
    set_to(page, "kernel", "linear")
    assert not page.sliders["gamma"].visible


def test_points_are_added_sprayed_and_erased(page):
    n = page.points.n
    page.board.points.stream({"x": [0.0], "y": [0.0], "group": ["B"]})
    page.update()
    assert page.points.n == n + 1
    page.gesture.active = 1
    page._tap(SimpleNamespace(x=3.5, y=-3.5))
    page.update()
    assert page.points.n == n + 13
    page.gesture.active = 2
    page._tap(SimpleNamespace(x=0.0, y=0.0))
    page._tap(SimpleNamespace(x=None, y=None))  # outside of the axes
    page.update()
    assert page.points.n < n + 13
    assert np.hypot(page.points.x, page.points.y).min() > 0.25


def test_clearing_says_what_to_do(page):
    page.board.points.data = {"x": [], "y": [], "group": []}
    page.update()
    assert page.view.model is None
    assert "Click on the board" in page.certificate.text


def test_the_path_holds_the_machine_of_every_cost(page):
    page.path.follow()
    assert page.path.slider.visible
    page.path.slider.value = 1.0
    X, y = np.column_stack([page.points.x, page.points.y]), page.points.group
    exact = mercer.SVC(C=10.0, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(page.view.model.certificate_.primal, exact.certificate_.primal, rtol=1e-5)
    page.sliders["gamma"].value = 0.0
    page.update()
    assert page.path.path is None
    assert not page.path.slider.visible


def test_machines_without_a_path_say_so(page):
    set_to(page, "machine", "NuSVC")
    assert page.path.start.disabled
    assert "SVC and SVR" in page.path.words.text


def test_steps_fall_to_the_machine_of_fit(page):
    finished = page.view.model.certificate_.primal
    for _ in range(30):
        page.steps.advance(10)
    values = page.steps.curve.source.data["value"]
    assert page.steps.run.done
    assert values[0] > 100 * values[-1]
    np.testing.assert_allclose(page.view.model.certificate_.primal, finished, rtol=1e-3)
    set_to(page, "preset", "Ring")
    page.steps.advance(1)
    assert "classifier" in page.steps.words.text


def test_saving_writes_a_model_and_replaces_no_other_file(page, tmp_path):
    page.file_name.value = "one"
    page.save_model()
    page.save_model()  # its own file may be written again
    loaded = mercer.load(tmp_path / "one.mercer")
    np.testing.assert_allclose(loaded.dual_coef_, page.view.model.dual_coef_)
    (tmp_path / "two.mercer").write_text("mine")
    for name, words in (("two", "exists already"), ("../three", "without folders"), ("", "without folders")):
        page.file_name.value = name
        page.save_model()
        assert words in page.save_words.text
    assert (tmp_path / "two.mercer").read_text() == "mine"
    assert not (tmp_path.parent / "three.mercer").exists()


def test_dark_and_light(page):
    page.dark.active = True
    assert page.board.figure.background_fill_color == "#15191c"
    page.dark.active = False
    assert page.board.figure.background_fill_color == "#ffffff"


def file_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    target = ["yes" if x > 0 else "<b>no</b>" for x in X[:, 0]]
    return FileRows("mine.csv", X, target, [row_text(i, "abcd", x) for i, x in enumerate(X)])


def test_a_file_is_projected_and_its_text_is_escaped(tmp_path):
    page = Page(Document(), tmp_path, file_rows())
    data = page.file.scatter.source.data
    assert len(data["x"]) == 60
    assert data["told"][3].startswith("row 4: a=")
    assert len(set(data["colour"])) == 2
    assert "<b>no" not in page.file.words.text
    before = np.array(data["x"])
    page.file.kernel.value = "linear"
    assert not np.allclose(before, page.file.scatter.source.data["x"])


def test_linear_kernel_pca_explains_what_pca_does():
    rows = file_rows()
    scores, fractions = kernel_pca(rows, "linear", 1.0)
    X = rows.X - rows.X.mean(axis=0)
    spectrum = np.linalg.svd(X, compute_uv=False) ** 2
    np.testing.assert_allclose(fractions, spectrum[:2] / spectrum.sum(), rtol=1e-8)
    np.testing.assert_allclose((scores**2).sum(axis=0), spectrum[:2], rtol=1e-8)


def test_large_files_are_sampled_in_order():
    kept = sample_rows(10_000)
    assert kept.size == 2000
    assert (np.diff(kept) > 0).all()
    np.testing.assert_array_equal(sample_rows(5), np.arange(5))
