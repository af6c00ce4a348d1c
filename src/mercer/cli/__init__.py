"""The command ``mercer``. It needs typer and rich: ``pip install "mercer[cli]"``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mercer.cli import libsvm
from mercer.cli.ctrl_c import ignore_interrupts, note_interrupts
from mercer.cli.exit_codes import INTERRUPTED, MISSING

__all__ = ["main", "run"]


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code.

    Parameters
    ----------
    arguments : sequence of str
        What stands behind ``mercer`` on the command line.

    Returns
    -------
    int
        0, or what ``mercer --help`` says of other codes.
    """
    if arguments and arguments[0] in libsvm.TOOLS:
        return libsvm.run(arguments[0], arguments[1:])
    try:
        from mercer.cli.app import call
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "rich", "click"):
            raise
        sys.stderr.write(f"the command mercer needs {error.name}: pip install 'mercer[cli]'\n")
        return MISSING
    return call(list(arguments))


def main() -> None:
    """Run the command and leave Python with its exit code."""
    try:
        note_interrupts()
        code = run(sys.argv[1:])
        ignore_interrupts()  # all is said and done
    except KeyboardInterrupt:  # before a command has begun, or a second one while the first is told
        code = INTERRUPTED
    sys.exit(code)
