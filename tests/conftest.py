"""What all tests share: a compiled-code cache that notices edits, Hypothesis profiles, small data sets."""

import hashlib
import importlib.util
import os
import signal
import tempfile
from pathlib import Path


def _numba_cache_folder():
    """Return a folder named after the compiled sources: numba's cache does not notice an edited helper."""
    spec = importlib.util.find_spec("mercer")
    digest = hashlib.sha256()
    for path in sorted((Path(spec.submodule_search_locations[0]) / "_jit").glob("*.py")):
        digest.update(path.read_bytes())
    return str(Path(tempfile.gettempdir()) / f"mercer-numba-{digest.hexdigest()[:16]}")


def _share_the_cores():
    """Give each of several test processes its part of the cores: BLAS threads without one spin and wait."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        share = str(max(1, (os.cpu_count() or 1) // processes))
        for library in ("OPENBLAS", "MKL"):  # not OMP: the library's own threads obey it, too
            os.environ.setdefault(f"{library}_NUM_THREADS", share)


os.environ["NUMBA_CACHE_DIR"] = _numba_cache_folder()  # before anything imports numba
_share_the_cores()  # before anything imports numpy

import pytest  # noqa: E402

from clouds import blobs  # noqa: E402

# A job in the background of a shell ignores Ctrl-C, and hands that down: fits that wait for it would not end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


if importlib.util.find_spec("hypothesis"):  # the core tests run without it
    from hypothesis import HealthCheck, settings

    # The first example pays for compilation, so no deadline; fixed seeds, so that a failure is not a mood.
    _common = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("quick", max_examples=15, **_common)
    settings.register_profile("default", max_examples=40, **_common)
    settings.register_profile("thorough", max_examples=1000, **_common | {"derandomize": False})
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser):
    """Know the option of tests/fuzz: only this file is read before the command line."""
    parser.addoption("--open-failures", action="store_true", help="also run tests of open faults")


@pytest.fixture(autouse=True)
def _ctrl_c_is_left_alone():
    """Put back what Ctrl-C does: a command that has begun to write ignores it until its process ends."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def two_clouds():
    """80 points of 2 overlapping classes in 3 dimensions."""
    return blobs(80, 3, 2, seed=0)


@pytest.fixture
def four_clouds():
    """120 points of 4 overlapping classes in 4 dimensions."""
    return blobs(120, 4, 4, seed=1)
