"""How the command ends: mistakes told in a line, without a traceback, each with its exit code."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import typer

from mercer import _jit
from mercer._jit.notice import tell_of_compiling
from mercer.cli.ctrl_c import interruptible
from mercer.cli.exit_codes import BROKEN, INTERRUPTED, MISSING, PARTIAL, WRONG

TRACEBACK = "MERCER_TRACEBACK"  # set to 1 in the environment to see where an error came from

F = TypeVar("F", bound=Callable[..., Any])


def end_partial(words: str) -> NoReturn:
    """End a command that was interrupted and whose result so far was wanted."""
    _tell(f"interrupted; {words}")
    raise typer.Exit(PARTIAL)


def guarded(function: F) -> F:
    """Return a command that tells mistakes in one line and ends with the right code."""

    def told(*args: Any, **options: Any) -> Any:
        silent = options.get("quiet") or options.get("as_json")
        telling = _jit.telling(None if silent else tell_of_compiling)
        with interruptible(keep=options.get("keep_partial", False)), telling:
            return function(*args, **options)

    @functools.wraps(function)
    def command(*args: Any, **options: Any) -> Any:
        if os.environ.get(TRACEBACK) == "1":
            return told(*args, **options)
        try:
            return told(*args, **options)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as error:
            _tell(f"interrupted; {error if error.args else 'nothing was written'}")
            raise typer.Exit(INTERRUPTED) from None
        except ImportError as error:
            _tell(str(error))
            raise typer.Exit(MISSING) from None
        except (ValueError, TypeError, OSError) as error:
            _tell(_one_line(error))
            raise typer.Exit(WRONG) from None
        except MemoryError:
            _tell("out of memory: use fewer rows or a smaller --cache-size")
            raise typer.Exit(WRONG) from None
        except Exception as error:  # noqa: BLE001 - the last resort: tell it as a bug, with the way to see more
            _tell(
                f"a bug: {type(error).__name__}: {error}. Run again with {TRACEBACK}=1 to see the traceback."
            )
            raise typer.Exit(BROKEN) from None

    return command  # type: ignore[return-value]


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    return re.sub(r"\s*\n\s*", " ", str(error).strip()) or type(error).__name__


def _tell(text: str) -> None:
    if sys.stderr.isatty():  # a terminal would break words; a pipe gets whole lines
        width = shutil.get_terminal_size().columns
        told = textwrap.fill(f"mercer: {text}", width, break_long_words=False, break_on_hyphens=False)
        plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        sys.stderr.write((told if plain else told.replace("mercer:", "\033[1;31mmercer:\033[0m", 1)) + "\n")
        return
    sys.stderr.write(f"mercer: {text}\n")
