"""LIBSVM's three tools with its flags, output lines and files, so that scripts for LIBSVM run unchanged."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence

from mercer import _jit
from mercer._jit.notice import tell_of_compiling
from mercer.cli.ctrl_c import interruptible
from mercer.cli.exit_codes import INTERRUPTED
from mercer.cli.libsvm.flags import UsageError

TOOLS = ("svm-train", "svm-predict", "svm-scale")


def run(tool: str, arguments: Sequence[str]) -> int:
    """Run a tool; return its exit code: 0, 1 after a message on standard error, 130 after Ctrl-C."""
    telling = _jit.telling(None if "-q" in arguments else tell_of_compiling)
    try:
        with interruptible(), telling:
            _tool(tool)(list(arguments))
    except UsageError as error:
        if str(error):
            sys.stderr.write(f"{error}\n")
        sys.stdout.write(error.usage)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except (ValueError, OSError, ImportError, MemoryError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    return 0


def _tool(tool: str) -> Callable[[list[str]], None]:
    # Each tool imports what it needs when it is called: svm-scale starts at once.
    module = importlib.import_module(f"mercer.cli.libsvm.{tool.replace('-', '_')}")
    main: Callable[[list[str]], None] = module.main
    return main
