"""A program: run commands in children of this process, each interrupted by a real SIGINT at chosen moments.

A moment is a share of the Python calls that the command makes when nobody interrupts it, so that no clock
decides where the signal strikes. Standard input is a JSON list of commands (lists of words) with the inputs
of each (names of files in the current folder); standard output is a JSON list with, for each command, what
happened: exit code and files at the end, first without an interrupt, then for each moment.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

MOMENTS = (0.1, 0.5, 0.9)
LONGEST = 120  # seconds, after which a child that hangs is killed


def child(words, strike, told):
    """Run a command, interrupt it at a call, tell how many there were, and end with its exit code."""
    signal.alarm(LONGEST)
    calls, struck = 0, False

    def count(frame, event, argument):
        nonlocal calls, struck
        if event == "call":
            calls += 1
            # Not in importlib: the interpreter prints and drops what its weak references' callbacks raise.
            if strike and calls >= strike and not struck and "importlib" not in frame.f_code.co_filename:
                struck = True
                os.kill(os.getpid(), signal.SIGINT)

    from mercer.cli import main

    sys.argv = ["mercer", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 99
    sys.setprofile(count)
    try:
        main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.setprofile(None)
        os.write(told, str(calls).encode())
        os._exit(code)


def run(words, inputs, strike=0):
    """Return the number of calls, the exit code and the files of a command in a folder of its own."""
    start = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name in inputs:
            shutil.copy(name, folder)
        heard, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.chdir(folder)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            with open("errors", "wb") as errors:
                os.dup2(errors.fileno(), 2)
            child(words, strike, told)
        os.close(told)
        calls = int(os.read(heard, 100) or 0)
        os.close(heard)
        _, status = os.waitpid(pid, 0)
        os.chdir(start)
        errors = (Path(folder) / "errors").read_text()
        (Path(folder) / "errors").unlink()
        files = sorted(path.name for path in Path(folder).iterdir())
        return {
            "calls": calls,
            "code": os.waitstatus_to_exitcode(status),
            "files": files,
            "errors": errors,
        }


def everything():
    """Import what the commands import, so that children need not; compile nothing, start no thread."""
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401

    import mercer._report.model_report
    import mercer.cli.app
    import mercer.cli.learning_table
    import mercer.cli.libsvm.svm_predict
    import mercer.cli.libsvm.svm_train
    import mercer.cli.train_results  # noqa: F401


if __name__ == "__main__":
    everything()
    found = []
    for words, inputs in json.load(sys.stdin):
        whole = run(words, inputs)
        trials, total = [], whole["calls"]
        for share in MOMENTS:
            trial = run(words, inputs, max(1, int(share * total)))
            if trial["calls"] < share * total:  # the run that counted had compiled, too: count anew
                total = trial["calls"]
                trial = run(words, inputs, max(1, int(share * total)))
            trials.append(trial)
        found.append([whole, trials])
    json.dump(found, sys.stdout)
