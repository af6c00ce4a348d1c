"""From plain data that passed the audit back to objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import Bunch

from mercer.io.errors import ModelFileError
from mercer.io.model.allowlist import (
    SPARSE,
    TYPES,
    estimator_class,
    own_class,
    own_function,
    plain_class,
    sklearn_kernel_class,
)
from mercer.io.model.description_audit import refuse
from mercer.kernels import Kernel
from mercer.structured import Structure
from mercer.values import Value


class Decoder:
    """Builds objects.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The file's arrays.
    kernels : mapping of str to callable
        What the user hands over for the functions and kernels that the file names.
    """

    def __init__(self, tensors: dict[str, np.ndarray], kernels: Mapping[str, Any]) -> None:
        self.tensors = tensors
        self.kernels = kernels
        self._arrays: dict[tuple[Any, ...], np.ndarray] = {}

    def build(self, node: Any, where: str = "model") -> Any:
        """Return the object that a part of the description stands for."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.build(item, where) for item in node]
        make = getattr(self, f"_{node['kind']}")
        try:
            return make(node, where)
        except ModelFileError:
            raise
        except (ValueError, TypeError, OverflowError, IndexError, KeyError, AttributeError) as error:
            raise ModelFileError(f"{where}: {error}") from error

    def _integer(self, node: Any, where: str) -> int:
        return int(node["value"])

    def _float(self, node: Any, where: str) -> float:
        return float(node["value"])

    def _bytes(self, node: Any, where: str) -> bytes:
        return bytes.fromhex(node["value"])

    def _array(self, node: Any, where: str) -> np.ndarray:
        stored = self.tensors[node["tensor"]]
        axes = node.get("axes", list(range(stored.ndim)))
        key = (node["tensor"], *axes)
        if key not in self._arrays:  # what was one array stays one array
            array = stored.transpose(np.argsort(axes)) if axes else stored
            if node.get("frozen"):
                array.flags.writeable = False
            self._arrays[key] = array
        return self._arrays[key]

    def _text(self, node: Any, where: str) -> np.ndarray:
        codes = np.ascontiguousarray(self.tensors[node["tensor"]])
        return codes.view(f"U{codes.shape[-1]}")[..., 0]

    def _objects(self, node: Any, where: str) -> np.ndarray:
        flat = np.empty(len(node["items"]), dtype=object)
        for k, item in enumerate(node["items"]):
            flat[k] = self.build(item, f"{where}[{k}]")
        return flat.reshape(node["shape"])

    def _masked(self, node: Any, where: str) -> Any:
        data, mask, fill = (self.build(node[part], where) for part in ("data", "mask", "fill"))
        if data.shape != mask.shape or mask.dtype != bool or fill.size != 1:
            refuse(where, "the parts of a masked array do not fit together")
        return np.ma.MaskedArray(data, mask=mask, fill_value=fill.item())

    def _scalar(self, node: Any, where: str) -> Any:
        if node["dtype"] == "str":
            return np.str_(node["value"])
        kind = np.dtype(node["dtype"])
        value = float(node["value"]) if kind.kind == "f" else node["value"]
        if kind.kind in "iu" and (not isinstance(value, int) or isinstance(value, bool)):
            refuse(where, f"{value!r:.40} is no whole number")
        return kind.type(value)

    def _sparse(self, node: Any, where: str) -> Any:
        data, indices, indptr = (self.build(node[part], where) for part in ("data", "indices", "indptr"))
        shape = tuple(node["shape"])
        name = node["class"]
        outer = shape[0] if name.startswith("csr") else shape[1]
        whole = indices.dtype.kind == indptr.dtype.kind == "i" and data.dtype.kind in "bif"
        whole = whole and data.dtype != np.float16  # of which SciPy makes no sparse matrix
        if not whole or indptr.shape != (outer + 1,) or data.ndim != 1 or indices.shape != data.shape:
            refuse(where, "the parts of a sparse matrix do not fit together")
        if int(indptr[0]) != 0 or int(indptr[-1]) != data.size or (np.diff(indptr) < 0).any():
            refuse(where, "the parts of a sparse matrix do not fit together")
        if indices.size and (indices.min() < 0 or indices.max() >= shape[1 if name.startswith("csr") else 0]):
            refuse(where, "an index of a sparse matrix is out of range")
        return SPARSE[name]((data, indices, indptr), shape=shape)

    def _dtype(self, node: Any, where: str) -> np.dtype[Any]:
        kind: np.dtype[Any] = np.dtype(node["name"])
        return kind

    def _type(self, node: Any, where: str) -> Any:
        return TYPES[node["name"]]

    def _tuple(self, node: Any, where: str) -> tuple[Any, ...]:
        return tuple(self.build(item, where) for item in node["items"])

    def _set(self, node: Any, where: str) -> set[Any]:
        return set(self._tuple(node, where))

    def _frozenset(self, node: Any, where: str) -> frozenset[Any]:
        return frozenset(self._tuple(node, where))

    def _dict(self, node: Any, where: str) -> dict[Any, Any]:
        return {self.build(key, where): self.build(item, where) for key, item in node["items"]}

    def _bunch(self, node: Any, where: str) -> Bunch:
        items = self._dict(node, where)
        if not all(isinstance(key, str) for key in items):
            refuse(where, "keys must be strings")
        return Bunch(**items)

    def _slice(self, node: Any, where: str) -> slice:
        return slice(*self._tuple(node, where))

    def _random(self, node: Any, where: str) -> np.random.RandomState:
        random = np.random.RandomState(0)
        name, position, has_gauss, gauss = node["rest"]
        random.set_state((name, self.build(node["keys"], where), int(position), int(has_gauss), float(gauss)))
        return random

    def _plain(self, node: Any, where: str) -> Any:
        made: Any = object.__new__(plain_class(node["class"]))
        vars(made).update({k: self.build(v, f"{where}.{k}") for k, v in node["state"].items()})
        return made

    def _partial(self, node: Any, where: str) -> Any:
        return partial(own_function(node["name"]), *self._tuple(node, where))

    def _scorer(self, node: Any, where: str) -> Any:
        return get_scorer(node["name"]) if node["name"] else check_scoring(self.build(node["of"], where))

    # -- objects -----------------------------------------------------------------------------------------

    def _tables(self, node: Any, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
        params = {k: self.build(v, f"{where}.{k}") for k, v in node["params"].items()}
        return params, {k: self.build(v, f"{where}.{k}") for k, v in node["state"].items()}

    def _estimator(self, node: Any, where: str) -> Any:
        params, state = self._tables(node, where)
        made = estimator_class(node["class"])(**params)
        vars(made).update(state)
        return made

    def _value(self, node: Any, where: str) -> Any:
        params, state = self._tables(node, where)
        made = own_class(node["class"], "value")(**params)
        vars(made).update(state)
        if isinstance(made, Kernel | Structure):
            made.validate()
        return made

    def _sklearn_kernel(self, node: Any, where: str) -> Any:
        params = {k: self.build(v, f"{where}.{k}") for k, v in node["params"].items()}
        made: Any = sklearn_kernel_class(node["class"])(**params)
        with np.errstate(all="ignore"):
            numbers = np.concatenate([np.ravel(made.theta), np.ravel(made.bounds)])
        if numbers.dtype.kind != "f":
            refuse(where, f"the parameters of {type(made).__name__} are no numbers")
        return made

    def _foreign(self, node: Any, where: str) -> Any:
        cls = self.kernels[node["name"]]
        if not (isinstance(cls, type) and issubclass(cls, Value)):
            refuse(where, f"kernels[{node['name']!r}] must be the class of the kernel, it is {cls!r:.60}")
        params, state = self._tables(node, where)
        made = cls(**params)
        vars(made).update(state)
        return made

    def _record(self, node: Any, where: str) -> Any:
        items = {k: self.build(v, f"{where}.{k}") for k, v in node["fields"].items()}
        return own_class(node["class"], "record")(**items)

    def _function(self, node: Any, where: str) -> Any:
        given = self.kernels[node["name"]]
        function = getattr(given, "function", given) if isinstance(given, Kernel) else given
        if not callable(function) or isinstance(function, type):
            refuse(where, f"kernels[{node['name']!r}] must be the function, it is {given!r:.60}")
        return function
