"""Pictures are drawn without a screen, and none stays open."""

import pytest


@pytest.fixture(autouse=True)
def _no_screen():
    matplotlib = pytest.importorskip("matplotlib")
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
    matplotlib.use(before)
