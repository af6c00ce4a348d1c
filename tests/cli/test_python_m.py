"""``python -m mercer`` is the command."""

import subprocess
import sys

import mercer


def test_python_m_mercer_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["mercer", mercer.__version__]


def test_its_exit_code_is_that_of_the_command():
    done = subprocess.run([sys.executable, "-m", "mercer", "nonsense"], capture_output=True, timeout=120)
    assert done.returncode == 2
