"""What running an example found."""

import os
import re
import traceback
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Failure:
    """A property that did not hold. ``key`` is the same for failures of the same kind and place."""

    name: str  # of the property
    where: str
    message: str

    @property
    def key(self):
        return f"{self.name} | {self.where}"


@dataclass
class Report:
    """The failures of one example, and how much was done."""

    fits: int = 0
    seconds: float = 0.0
    failures: list = field(default_factory=list)
    ending: str = ""  # how it ended: a status, "refused", ...
    refusal: str = ""  # the words

    def fail(self, name, where, message):
        self.failures.append(Failure(name, where, str(message)[:1500]))


PACKAGE = re.compile(
    r"(?:.*/)?((?:mercer|sklearn|numpy|scipy|pandas|pyarrow|numba|joblib|typer|click|tests)/.*)"
)


def short(filename):
    """Return a file's name from its package on."""
    match = PACKAGE.match(Path(filename).as_posix())
    return match[1] if match else os.path.basename(filename)


def frames(error):
    return [(short(f.filename), f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]


def origin(error):
    """Return the innermost place in the library that an error passed through."""
    ours = [f for f in frames(error) if f[0].startswith("mercer/")]
    file, function, _ = ours[-1] if ours else (frames(error) or [("?", "?", 0)])[-1]
    return f"{file}:{function}"


def raised_by(error):
    """Return the top package in which an error was raised."""
    found = frames(error)
    return found[-1][0].split("/")[0] if found else ""


OUR_WORDS = re.compile(
    r"\b(X|y|Y|Z|sample_weight|kernel|rows?|class(es)?|column|features?|samples?|points?|target|weights?|data|file|"
    r"model|labels?|solver|matrix|parameter)\b"
)


# Words and classes of scikit-learn's that programs written for it look for.
LIKE_SKLEARN = ("Inverse transform not implemented for sparse matrices!",)


def is_refusal(error, names=()):
    """Return whether an error is a refusal in words, and if not, why not."""
    kind = type(error)
    if kind is NotImplementedError and str(error) in LIKE_SKLEARN:
        return ""
    if not isinstance(error, (ValueError, TypeError)):
        return f"{kind.__name__} is no refusal"
    if kind not in (ValueError, TypeError) and kind.__module__.split(".")[0] not in ("mercer", "sklearn"):
        return f"{kind.__module__}.{kind.__name__} is not one of ours"
    if raised_by(error) not in ("mercer", "sklearn"):
        return f"{kind.__name__} raised inside {raised_by(error)}"
    if kind.__module__.startswith("mercer."):
        return ""  # a class of our own for the purpose
    text = str(error)
    if not (OUR_WORDS.search(text) or any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)):
        return "names neither a parameter nor what is wrong with the data"
    return ""
