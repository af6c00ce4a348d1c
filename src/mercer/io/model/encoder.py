"""A fitted model as a tree of plain data and a table of arrays.

What JSON has is written as JSON; everything else is a table with a ``kind``. Nothing is written that cannot
be read back bit for bit, and what no kind fits is refused by name.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer, _PassthroughScorer
from sklearn.utils import Bunch

from mercer.bounds.promises import LateFact
from mercer.io.errors import ModelFileError
from mercer.io.model.allowlist import (
    SPARSE,
    TYPES,
    address,
    function_address,
    is_known_sklearn_kernel,
    is_record,
    is_remade,
    plain_address,
)
from mercer.values import Value, parameter_names

DEEPEST = 64
PLAIN = "biuf"


def state_of(thing: Any, parameters: set[str]) -> dict[str, Any]:
    """Return what an object holds beside its parameters, as pickling sees it."""
    state = thing.__getstate__()
    if state is None:
        return {}
    if not isinstance(state, dict):
        raise ModelFileError(f"{type(thing).__name__} keeps its state in a form that cannot be saved")
    return {
        k: v
        for k, v in state.items()
        if k not in parameters and not k.startswith("__") and k != "_sklearn_version"
    }


class Encoder:
    """Turns objects into plain data.

    Attributes
    ----------
    tensors : dict of str to ndarray
        The arrays met so far.
    needs : dict of str to str
        Names of the user's functions and kernels, and what they are.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self.needs: dict[str, str] = {}
        self._names: dict[int, dict[str, Any]] = {}
        self._kept: list[Any] = []  # ids stay unique while objects live
        self._given: dict[str, Any] = {}

    def encode(self, value: Any, where: str = "model", depth: int = 0) -> Any:
        """Return a value as plain data; ``where`` is what a refusal calls it."""
        if depth > DEEPEST:
            raise ModelFileError(f"{where} is nested too deeply to be saved")
        if value is None or is_remade(value):
            return None
        if type(value) in (bool, str):
            return value
        if type(value) is bytes:
            return {"kind": "bytes", "value": value.hex()}
        if type(value) is int:
            return value if abs(value) < 2**63 else {"kind": "integer", "value": str(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where, depth)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, np.dtype):
            return {"kind": "dtype", "name": value.str}
        if isinstance(value, type):
            return self._type(value, where)
        if sp.issparse(value):
            return self._sparse(value, where, depth)
        if isinstance(value, BaseEstimator):
            return self._estimator(value, where, depth)
        if isinstance(value, Value):
            return self._value(value, where, depth)
        if is_known_sklearn_kernel(value):
            params = self._table(value.get_params(deep=False), where, depth)
            return {"kind": "sklearn_kernel", "class": type(value).__name__, "params": params}
        if plain_address(value) is not None:
            return {
                "kind": "plain",
                "class": plain_address(value),
                "state": self._table(vars(value), where, depth),
            }
        if isinstance(value, partial) and function_address(value.func) is not None and not value.keywords:
            items = [self.encode(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(value.args)]
            return {"kind": "partial", "name": function_address(value.func), "items": items}
        if isinstance(value, _BaseScorer | _PassthroughScorer):
            return self._scorer(value, where, depth)
        if isinstance(value, np.random.RandomState):
            name, keys, *rest = value.get_state(legacy=True)
            return {
                "kind": "random",
                "keys": self._array(np.asarray(keys), where, depth),
                "rest": [name, *map(float, rest)],
            }
        if isinstance(value, LateFact):
            value = value.settled()  # the work that is left needs the data, and no file holds work
        if is_record(type(value)):
            return self._record(value, where, depth)
        return self._container(value, where, depth)

    def _container(self, value: Any, where: str, depth: int) -> Any:
        if type(value) is list:
            return [self.encode(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(value)]
        if type(value) in (tuple, set, frozenset):
            items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
            encoded = [self.encode(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(items)]
            return {"kind": type(value).__name__, "items": encoded}
        if isinstance(value, dict):
            if type(value) not in (dict, Bunch) and type(value).__module__.partition(".")[0] not in (
                "sklearn",
                "collections",
            ):
                self._refuse(value, where)
            pairs = [
                [self.encode(k, f"a key of {where}", depth + 1), self.encode(v, f"{where}[{k!r}]", depth + 1)]
                for k, v in value.items()
            ]
            return {"kind": "bunch" if isinstance(value, Bunch) else "dict", "items": pairs}
        if isinstance(value, slice):
            ends = [self.encode(v, where, depth + 1) for v in (value.start, value.stop, value.step)]
            return {"kind": "slice", "items": ends}
        if callable(value) and hasattr(value, "__name__"):
            return {"kind": "function", "name": self._need(value, value.__name__, "function", where)}
        return self._refuse(value, where)

    def _refuse(self, value: Any, where: str) -> Any:
        cls = type(value)
        raise ModelFileError(
            f"{where} is a {cls.__module__}.{cls.__qualname__}, which a model file cannot hold; "
            f"pickle can, for people "
            "who trust the file"
        )

    # -- arrays ------------------------------------------------------------------------------------------

    def _array(self, value: np.ndarray, where: str, depth: int) -> dict[str, Any]:
        if isinstance(value, np.ma.MaskedArray):
            parts = {"data": np.asarray(value.data), "mask": np.ma.getmaskarray(value)}
            arrays = {name: self._array(part, where, depth) for name, part in parts.items()}
            return {
                "kind": "masked",
                **arrays,
                "fill": self._array(np.asarray(value.fill_value), where, depth),
            }
        if type(value) is not np.ndarray:
            self._refuse(value, where)
        if value.dtype.kind == "O":
            items = [self.encode(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(value.ravel())]
            return {"kind": "objects", "shape": list(value.shape), "items": items}
        if id(value) in self._names:
            return self._names[id(value)]
        if value.dtype.kind == "U" and value.dtype.itemsize:
            codes = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("="))
            plain = (
                codes.view(np.uint32).reshape(*value.shape, -1)
                if value.ndim
                else codes.reshape(1).view(np.uint32)
            )
            node: dict[str, Any] = {"kind": "text", "tensor": self._tensor(plain)}
        elif value.dtype.kind in PLAIN and value.dtype.itemsize <= 8:
            order = _axes(value)
            native = value.astype(value.dtype.newbyteorder("="), copy=False)
            # NumPy gives an array without dimensions one.
            laid_out = np.ascontiguousarray(native.transpose(order)).reshape([value.shape[k] for k in order])
            node = {"kind": "array", "tensor": self._tensor(laid_out)}
            if order != list(range(value.ndim)):
                node["axes"] = order
            if not value.flags.writeable:
                node["frozen"] = True
        else:
            self._refuse_dtype(value, where)
        self._names[id(value)] = node
        self._kept.append(value)
        return node

    def _refuse_dtype(self, value: np.ndarray, where: str) -> None:
        raise ModelFileError(f"{where} is an array of {value.dtype}, which a model file cannot hold")

    def _tensor(self, array: np.ndarray) -> str:
        name = f"a{len(self.tensors)}"
        self.tensors[name] = array
        return name

    def _scalar(self, value: np.generic, where: str) -> dict[str, Any]:
        if value.dtype.kind == "U":
            return {"kind": "scalar", "dtype": "str", "value": str(value)}
        if value.dtype.kind not in PLAIN or value.dtype.itemsize > 8:
            self._refuse_dtype(np.asarray(value), where)
        item = value.item()
        return {
            "kind": "scalar",
            "dtype": value.dtype.str,
            "value": repr(item) if isinstance(item, float) else item,
        }

    def _sparse(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        name = type(value).__name__
        if SPARSE.get(name) is not type(value):
            self._refuse(value, where)
        parts = {
            part: self._array(getattr(value, part), where, depth) for part in ("data", "indices", "indptr")
        }
        return {"kind": "sparse", "class": name, "shape": list(value.shape), **parts}

    def _type(self, value: type, where: str) -> dict[str, Any]:
        name = next((name for name, known in TYPES.items() if known is value), None)
        if name is None:
            raise ModelFileError(f"{where} is the type {value.__qualname__}, which a model file cannot hold")
        return {"kind": "type", "name": name}

    # -- objects -----------------------------------------------------------------------------------------

    def _table(self, items: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        return {name: self.encode(v, f"{where}.{name}", depth + 1) for name, v in items.items()}

    def _estimator(self, value: BaseEstimator, where: str, depth: int) -> dict[str, Any]:
        name = address(type(value))
        if name is None:
            cls = type(value)
            raise ModelFileError(
                f"{where} is a {cls.__module__}.{cls.__qualname__}, which is not on the list of "
                f"estimators that may be "
                "built from a file"
            )
        params = value.get_params(deep=False)
        if params.get("memory") is not None:
            raise ModelFileError(f"{where}.memory names a folder; set memory=None before saving")
        return {
            "kind": "estimator",
            "class": name,
            "params": self._table(params, where, depth),
            "state": self._table(state_of(value, set(params)), where, depth),
        }

    def _value(self, value: Value, where: str, depth: int) -> dict[str, Any]:
        params = {name: getattr(value, name) for name in parameter_names(type(value))}
        state = {k: v for k, v in vars(value).items() if k not in params and not k.startswith("__")}
        getstate = getattr(type(value), "__getstate__", None)
        if state and getstate is not getattr(object, "__getstate__", None):
            state = state_of(value, set(params))
        name = address(type(value))
        node: dict[str, Any] = {"kind": "value", "class": name}
        if name is None:
            cls = type(value)
            node = {"kind": "foreign", "name": self._need(cls, cls.__name__, "class", where)}
        return {
            **node,
            "params": self._table(params, where, depth),
            "state": self._table(state, where, depth),
        }

    def _record(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        cls = type(value)
        name = address(cls)
        if name is None:
            self._refuse(value, where)
        if is_dataclass(value):
            items = {f.name: getattr(value, f.name) for f in fields(value)}
        else:
            items = value._asdict()
        return {"kind": "record", "class": name, "fields": self._table(items, where, depth)}

    def _scorer(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        """Name a scorer of scikit-learn; that of an estimator itself goes with the estimator."""
        if isinstance(value, _PassthroughScorer):
            return {"kind": "scorer", "name": None, "of": self.encode(value._estimator, where, depth + 1)}
        name = next((n for n in get_scorer_names() if repr(get_scorer(n)) == repr(value)), None)
        if name is None:
            raise ModelFileError(f"{where} is {value!r:.80}, which has no name in scikit-learn")
        return {"kind": "scorer", "name": name, "of": None}

    def _need(self, thing: Any, name: str, what: str, where: str) -> str:
        if not name.isidentifier():
            raise ModelFileError(
                f"{where} is a function without a name ({name}): write it with def, so that a "
                f"file can name it"
            )
        if self._given.setdefault(name, thing) is not thing:
            raise ModelFileError(
                f"two different functions are called {name!r}: a file could not tell them apart"
            )
        self.needs[name] = what
        return name


def _axes(value: np.ndarray) -> list[int]:
    """Return the order of the axes in memory, so that it can be restored: sums may depend on it."""
    if value.flags.c_contiguous or value.size == 0:
        return list(range(value.ndim))
    return sorted(range(value.ndim), key=lambda k: (-abs(value.strides[k]), k))
