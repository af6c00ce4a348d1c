"""Values that are printed as the Python code that makes them, so that every example can be pasted and run."""

import numpy as np
import scipy.sparse as sp


class Code:
    """An expression over ``mercer``, ``np`` and ``items``, evaluated where it is used; equal by its text."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    def __eq__(self, other):
        return isinstance(other, Code) and self.text == other.text

    def __hash__(self):
        return hash(self.text)

    def value(self):
        import mercer

        from . import items

        names = {"mercer": mercer, "np": np, "items": items}
        return eval(self.text, names)


def valued(value):
    """Return what a parameter stands for."""
    return value.value() if isinstance(value, Code) else value


def arguments(params):
    return ", ".join(f"{name}={literal(value)}" for name, value in params.items())


def literal(value):
    """Return Python code for a value: numbers, texts, lists, arrays, sparse arrays."""
    if isinstance(value, Code):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if np.isfinite(value) else f"float({str(value)!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, np.generic):
        return literal(value.item())
    if sp.issparse(value):
        form = type(value).__name__
        return f"scipy.sparse.{form}({literal(value.toarray())})"
    if isinstance(value, np.ndarray):
        dtype = (
            "" if value.dtype in (np.float64, np.int64) or value.dtype.kind == "U" else f", np.{value.dtype}"
        )
        return f"np.array({_nested(value.tolist())}{dtype})"
    if isinstance(value, (list, tuple)):
        return _nested(value)
    return repr(value)


def _nested(value):
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_nested(v) for v in value)
        if isinstance(value, tuple):
            return f"({inside},)"
        return f"[{inside}]"
    return literal(value)
