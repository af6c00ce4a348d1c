"""The page in a real Chromium: clicks, drags, keys, tabs, themes, telephones."""

from __future__ import annotations

import os
import shutil
import time

import numpy as np
import pytest

pytest.importorskip("bokeh")
pytest.importorskip("selenium")

from play_server import served
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from mercer.play.file_rows import FileRows

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver (Debian: chromium-driver)"
)
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip


class Tab:
    """A browser on the page."""

    def __init__(self, address, width, height, folder, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for word in (*QUIET, f"--window-size={width},{height}", f"--user-data-dir={folder}"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        if dark:
            feature = {"name": "prefers-color-scheme", "value": "dark"}
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.driver.get(address)
        self.until(lambda: self.js("return Bokeh.documents.length > 0 && name('board') !== null"))
        self.until(lambda: "proved" in self.text("certificate"))

    def js(self, code, *values):
        name = "const name = (n) => Bokeh.documents[0].get_model_by_name(n); "
        return self.driver.execute_script(
            "if (!window.Bokeh || !Bokeh.documents) return null; " + name + code, *values
        )

    def until(self, true, seconds=40):
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "the page did not get there"
            time.sleep(0.05)

    def text(self, name):
        return self.js("return name(arguments[0])?.text || ''", name)

    def count(self):
        return self.js("return name('points').data['x'].length")

    def fitted_count(self):
        return self.js("return name('facts').data['x'].length")

    def set(self, name, key, value):
        self.js("name(arguments[0])[arguments[1]] = arguments[2]", name, key, value)

    def at(self, x, y):
        """Return where a point of the board is in the window."""
        return self.js(
            "const v = Bokeh.index.find_one(name('board')), f = v.frame, box = v.el.getBoundingClientRect(); "
            "return [box.x + f.x_scale.compute(arguments[0]), box.y + f.y_scale.compute(arguments[1])]", x, y,
        )  # fmt: skip

    def mouse(self):
        return ActionChains(self.driver, duration=60)

    def click(self, x, y):
        left, top = self.at(x, y)
        chain = self.mouse()
        chain.w3c_actions.pointer_action.move_to_location(int(left), int(top))
        chain.click().perform()

    def press(self, name):
        """Press a button, wherever in the shadow tree it is."""
        self.js(
            "const v = Bokeh.index.find_one(name(arguments[0])); v.shadow_el.querySelector('button').click()",
            name,
        )

    def complaints(self):
        return [one for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    rows = FileRows("mine.csv", X, list(rng.integers(0, 2, 50)), [f"row {i}" for i in range(50)])
    folder = tmp_path_factory.mktemp("played")
    with served(folder, rows) as address:
        yield address, folder


@pytest.fixture(scope="module")
def tab(place, tmp_path_factory):
    tab = Tab(place[0], 1400, 850, tmp_path_factory.mktemp("profile"))
    yield tab
    tab.driver.quit()


def test_a_click_adds_a_point_of_the_chosen_class(tab):
    tab.set("group", "active", 1)
    before = tab.count()
    tab.click(-3.0, 3.0)
    tab.until(lambda: tab.fitted_count() == before + 1)
    last = tab.js("const d = name('points').data; return [d['x'].at(-1), d['y'].at(-1), d['group'].at(-1)]")
    assert last[2] == "B"
    assert abs(last[0] + 3.0) < 0.1
    assert abs(last[1] - 3.0) < 0.1


def test_a_point_is_dragged(tab):
    x, y = tab.js("const d = name('points').data; return [d['x'].at(-1), d['y'].at(-1)]")
    start, end = tab.at(x, y), tab.at(0.0, -3.5)
    chain = tab.mouse()
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(int(start[0]), int(start[1]))
    pointer.pointer_down()
    pointer.move_to_location(int((start[0] + end[0]) / 2), int((start[1] + end[1]) / 2))
    pointer.move_to_location(int(end[0]), int(end[1]))
    pointer.pointer_up()
    chain.perform()
    tab.until(lambda: tab.js("return name('facts').data['y'].at(-1)") < -3.0)


def test_clouds_are_drawn_and_erased(tab):
    before = tab.count()
    tab.set("gesture", "active", 1)
    tab.until(lambda: tab.js("return name('board').toolbar.active_tap === null"))
    tab.click(2.2, -2.2)
    tab.until(lambda: tab.fitted_count() >= before + 12)
    tab.set("gesture", "active", 2)
    many = tab.count()
    tab.click(*tab.js("const d = name('points').data; return [d['x'].at(-1), d['y'].at(-1)]"))
    tab.until(lambda: tab.fitted_count() < many)
    tab.set("gesture", "active", 0)


def test_a_slider_moves_the_boundary(tab):
    before = tab.js("return JSON.stringify(name('boundary').data)")
    tab.set("gamma", "value", 1.0)
    tab.until(lambda: tab.js("return JSON.stringify(name('boundary').data)") != before)
    assert tab.js("return name('boundary').data['xs'].length") > 0


def test_the_path_has_a_slider_and_steps_have_a_curve(tab):
    tab.set("tabs", "active", 2)
    tab.press("path_start")
    tab.until(lambda: tab.js("return name('path_C').visible"))
    assert "breakpoints" in tab.text("path_words")
    tab.set("tabs", "active", 3)
    tab.press("step_10")
    tab.until(lambda: "after 10 steps" in tab.text("step_words"))
    tab.press("step_10")
    tab.until(lambda: "after 20 steps" in tab.text("step_words"))
    assert tab.js("return name('curve').data['value'].length") == 2


def test_the_model_is_saved_where_the_command_was_started(tab, place):
    tab.set("tabs", "active", 4)
    tab.press("save")
    tab.until(lambda: "Saved played.mercer" in tab.text("save_words"))
    assert (place[1] / "played.mercer").exists()


def test_the_file_is_projected(tab):
    tab.set("tabs", "active", 5)
    tab.until(lambda: tab.js("return name('rows').data['x'].length") == 50)
    assert "mine.csv" in tab.text("file_words")


@pytest.mark.parametrize("preset", ["Spirals", "Three classes", "Noisy sine", "Ring"])
def test_presets(tab, preset):
    tab.set("tabs", "active", 0)
    tab.set("preset", "value", preset)
    tab.until(lambda: tab.count() == tab.fitted_count() and "proved" in tab.text("certificate"))


def test_nothing_goes_wrong_in_the_browser(tab):
    assert tab.complaints() == []


def test_a_telephone_in_the_dark(place, tmp_path):
    tab = Tab(place[0], 500, 900, tmp_path, dark=True)
    try:
        tab.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True},
        )
        tab.until(lambda: tab.js("return document.documentElement.dataset.theme") == "dark")
        tab.until(lambda: tab.js("return name('board').background_fill_color") == "#15191c")
        time.sleep(0.5)  # the layout follows the new size
        assert tab.js("return document.documentElement.scrollWidth") <= 390
        if "PLAY_PICTURE" in os.environ:
            tab.driver.save_screenshot(os.environ["PLAY_PICTURE"])
    finally:
        tab.driver.quit()
