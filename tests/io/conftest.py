"""Fixtures of the tests of files."""

import pytest


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile what the readers of hostile files need."""
    from hostile_samples import compile_readers  # fits a model: only for those who ask

    compile_readers(tmp_path_factory.mktemp("compiled"))


@pytest.fixture
def guarded(tmp_path, compiled):
    """Watch what a reader does to memory, files and the interpreter."""
    from hostile_samples import guarding

    with guarding(tmp_path):
        yield
