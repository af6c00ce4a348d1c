"""A look at everything that a description holds, before anything is built."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

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
from mercer.io.model.encoder import DEEPEST
from mercer.values import parameter_names

FIELDS: dict[str, set[str]] = {
    "integer": {"value"},
    "float": {"value"},
    "bytes": {"value"},
    "array": {"tensor"},
    "text": {"tensor"},
    "objects": {"shape", "items"},
    "masked": {"data", "mask", "fill"},
    "scalar": {"dtype", "value"},
    "sparse": {"class", "shape", "data", "indices", "indptr"},
    "dtype": {"name"},
    "type": {"name"},
    "tuple": {"items"},
    "set": {"items"},
    "frozenset": {"items"},
    "dict": {"items"},
    "bunch": {"items"},
    "slice": {"items"},
    "function": {"name"},
    "random": {"keys", "rest"},
    "plain": {"class", "state"},
    "partial": {"name", "items"},
    "scorer": {"name", "of"},
    "estimator": {"class", "params", "state"},
    "value": {"class", "params", "state"},
    "foreign": {"name", "params", "state"},
    "sklearn_kernel": {"class", "params"},
    "record": {"class", "fields"},
}
OPTIONAL = {"array": {"axes", "frozen"}}
SCALARS = {
    f"{order}{kind}"
    for order in "<|="
    for kind in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")
}


def refuse(where: str, why: str) -> Any:
    """Raise for a part of the description."""
    raise ModelFileError(f"{where}: {why}")


class Audit:
    """Refuses what is not on the lists.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The file's arrays.

    Attributes
    ----------
    used : set of str
        Names of the arrays that the description uses.
    needs : set of str
        Names of the functions and kernels that the user must hand over.
    """

    def __init__(self, tensors: dict[str, np.ndarray]) -> None:
        self.tensors = tensors
        self.used: set[str] = set()
        self.needs: set[str] = set()

    def audit(self, node: Any, where: str = "model", depth: int = 0) -> None:
        """Refuse anything that is not on the lists, before anything is built."""
        if depth > DEEPEST:
            refuse(where, "nested too deeply")
        if node is None or isinstance(node, bool | int | float | str):
            return
        if isinstance(node, list):
            self._audit_items(node, where, depth)
            return
        kind = node.get("kind")
        if not isinstance(kind, str) or kind not in FIELDS:
            refuse(where, f"unknown kind {kind!r:.40}")
        found = set(node) - {"kind"}
        if found - OPTIONAL.get(kind, set()) != FIELDS[kind]:
            refuse(where, f"a {kind} has the entries {sorted(FIELDS[kind])}, here are {sorted(found)!r:.80}")
        for name in ("class", "dtype", "name"):
            if not isinstance(node.get(name), str | None):
                refuse(where, f"{node[name]!r:.40} is no name")
        check: Callable[..., None] = getattr(self, f"_audit_{kind}", self._audit_items_of)
        check(node, where, depth)

    def _audit_items(self, items: Any, where: str, depth: int) -> None:
        if not isinstance(items, list):
            refuse(where, "a list is missing")
        for k, item in enumerate(items):
            self.audit(item, f"{where}[{k}]", depth + 1)

    def _audit_items_of(self, node: Any, where: str, depth: int) -> None:
        self._audit_items(node["items"], where, depth)

    def _audit_integer(self, node: Any, where: str, depth: int) -> None:
        text = node["value"]
        if not isinstance(text, str) or not text.removeprefix("-").isdecimal() or len(text) > 400:
            refuse(where, "not an integer")

    def _audit_float(self, node: Any, where: str, depth: int) -> None:
        if node["value"] not in ("nan", "inf", "-inf"):
            refuse(where, f"{node['value']!r:.40} is not nan, inf or -inf")

    def _audit_bytes(self, node: Any, where: str, depth: int) -> None:
        text = node["value"]
        if not isinstance(text, str) or len(text) % 2 or not set(text) <= set("0123456789abcdef"):
            refuse(where, "bytes are pairs of hexadecimal digits")

    def _audit_array(self, node: Any, where: str, depth: int) -> None:
        name = node["tensor"]
        if not isinstance(name, str) or name not in self.tensors:
            refuse(where, f"there is no array {name!r:.40}")
        self.used.add(name)
        ndim = self.tensors[name].ndim
        axes = node.get("axes", list(range(ndim)))
        if not isinstance(axes, list) or sorted(map(repr, axes)) != sorted(map(repr, range(ndim))):
            refuse(where, f"the axes {axes!r:.40} do not fit an array of {ndim} dimensions")
        if not isinstance(node.get("frozen", False), bool):
            refuse(where, "frozen must be true or false")

    def _audit_text(self, node: Any, where: str, depth: int) -> None:
        self._audit_array(node, where, depth)
        codes = self.tensors[node["tensor"]]
        if codes.dtype != np.uint32 or codes.ndim < 1 or not codes.shape[-1]:
            refuse(where, "text must be an array of 32-bit characters")
        if codes.size and (int(codes.max()) > 0x10FFFF or ((codes >= 0xD800) & (codes < 0xE000)).any()):
            refuse(where, "text holds what is no character")

    def _audit_objects(self, node: Any, where: str, depth: int) -> None:
        shape = self._shape(node["shape"], where)
        self._audit_items(node["items"], where, depth)
        if int(np.prod(shape, dtype=object)) != len(node["items"]):
            refuse(where, f"{len(node['items'])} items do not fill the shape {shape}")

    def _audit_masked(self, node: Any, where: str, depth: int) -> None:
        for part in ("data", "mask", "fill"):
            self.audit(node[part], f"{where}.{part}", depth + 1)
            if not isinstance(node[part], dict) or node[part]["kind"] not in ("array", "text", "objects"):
                refuse(where, f"{part} is not an array")

    def _audit_scalar(self, node: Any, where: str, depth: int) -> None:
        if node["dtype"] != "str" and node["dtype"] not in SCALARS:
            refuse(where, f"{node['dtype']!r:.40} is no type of a number")
        if not isinstance(node["value"], bool | int | str):
            refuse(where, "not a number")

    def _audit_sparse(self, node: Any, where: str, depth: int) -> None:
        if node["class"] not in SPARSE:
            refuse(where, f"{node['class']!r:.40} is no sparse matrix")
        if len(self._shape(node["shape"], where)) != 2:
            refuse(where, "a sparse matrix has two dimensions")
        for part in ("data", "indices", "indptr"):
            self.audit(node[part], f"{where}.{part}", depth + 1)
            if not isinstance(node[part], dict) or node[part].get("kind") != "array":
                refuse(where, f"{part} is not an array")

    @staticmethod
    def _shape(shape: Any, where: str) -> tuple[int, ...]:
        sound = isinstance(shape, list) and len(shape) <= 32
        if not sound or not all(type(s) is int and 0 <= s < 2**62 for s in shape):
            refuse(where, f"{shape!r:.60} is no shape")
        return tuple(shape)

    def _audit_dtype(self, node: Any, where: str, depth: int) -> None:
        name = node["name"]
        text = (
            isinstance(name, str)
            and name[:2] in ("<U", "|U", "=U")
            and name[2:].isdecimal()
            and len(name) < 12
        )
        if name not in SCALARS and name != "|O" and not text:
            refuse(where, f"{name!r:.40} is no type of data")

    def _audit_type(self, node: Any, where: str, depth: int) -> None:
        if node["name"] not in TYPES:
            refuse(where, f"{node['name']!r:.40} is not a type that may be named")

    def _audit_dict(self, node: Any, where: str, depth: int) -> None:
        if not isinstance(node["items"], list):
            refuse(where, "a list is missing")
        for k, pair in enumerate(node["items"]):
            if not isinstance(pair, list) or len(pair) != 2:
                refuse(where, "entries must be pairs")
            self.audit(pair[0], f"key {k} of {where}", depth + 1)
            self.audit(pair[1], f"{where}[{k}]", depth + 1)

    _audit_bunch = _audit_dict

    def _audit_slice(self, node: Any, where: str, depth: int) -> None:
        self._audit_items(node["items"], where, depth)
        if len(node["items"]) != 3:
            refuse(where, "a slice has three parts")

    def _audit_function(self, node: Any, where: str, depth: int) -> None:
        name = node["name"]
        if not isinstance(name, str) or not name.isidentifier():
            refuse(where, f"{name!r:.40} is no name of a function")
        self.needs.add(name)

    def _audit_random(self, node: Any, where: str, depth: int) -> None:
        self.audit(node["keys"], where, depth + 1)
        keys = node["keys"]
        if not isinstance(keys, dict) or keys.get("kind") != "array":
            refuse(where, "the state of a random generator is not sound")
        array, rest = self.tensors[keys["tensor"]], node["rest"]
        sound = isinstance(rest, list) and len(rest) == 4 and rest[0] == "MT19937"
        if array.shape != (624,) or array.dtype != np.uint32 or not sound:
            refuse(where, "the state of a random generator is not sound")
        if not all(isinstance(r, int | float) for r in rest[1:]) or not 0 <= rest[1] <= 624:
            refuse(where, "the state of a random generator is not sound")

    def _audit_table(self, table: Any, where: str, depth: int) -> None:
        if not isinstance(table, dict):
            refuse(where, "a table is missing")
        kind = table.get("kind")
        if isinstance(kind, str) and kind in FIELDS and FIELDS[kind] <= set(table):
            refuse(where, f"a {kind} stands where a table of attributes must be")
        for name, item in table.items():
            if not name.isidentifier() or name.startswith("__"):
                refuse(where, f"{name!r:.40} is no name of an attribute")
            self.audit(item, f"{where}.{name}", depth + 1)

    def _audit_plain(self, node: Any, where: str, depth: int) -> None:
        cls = plain_class(node["class"])
        self._audit_table(node["state"], where, depth)
        self._audit_names(node["state"], where, cls)

    def _audit_partial(self, node: Any, where: str, depth: int) -> None:
        own_function(node["name"])
        self._audit_items(node["items"], where, depth)

    def _audit_scorer(self, node: Any, where: str, depth: int) -> None:
        if node["name"] is not None and node["name"] not in get_scorer_names():
            refuse(where, f"{node['name']!r:.40} is no scorer of scikit-learn")
        self.audit(node["of"], where, depth + 1)
        if node["name"] is None and (
            not isinstance(node["of"], dict) or node["of"].get("kind") != "estimator"
        ):
            refuse(where, "a scorer without a name belongs to an estimator")

    @staticmethod
    def _audit_names(state: dict[str, Any], where: str, cls: type) -> None:
        for name in state:
            known = inspect.getattr_static(cls, name, None)
            if isinstance(known, property) and known.fset is not None:
                continue  # a property that may be set keeps what it is given
            if callable(known) or hasattr(known, "__get__"):
                refuse(where, f"{name!r} is a method or property of {cls.__name__} and cannot be replaced")

    def _audit_object(self, node: Any, where: str, depth: int, cls: type, names: set[str]) -> None:
        self._audit_table(node["params"], where, depth)
        self._audit_table(node["state"], where, depth)
        unknown = sorted(set(node["params"]) - names)
        if unknown:
            refuse(where, f"{cls.__name__} of this version has no parameter {unknown[0]!r:.60}")
        for name in node["state"]:
            if name in names:
                refuse(where, f"{name!r} is a parameter of {cls.__name__}, not something learned")
        self._audit_names(node["state"], where, cls)

    def _audit_estimator(self, node: Any, where: str, depth: int) -> None:
        cls: Any = estimator_class(node["class"])
        self._audit_object(node, where, depth, cls, set(cls._get_param_names()))
        if node["params"].get("memory") is not None:
            refuse(where, "memory names a folder; models from files have none")

    def _audit_value(self, node: Any, where: str, depth: int) -> None:
        cls = own_class(node["class"], "value")
        self._audit_object(node, where, depth, cls, set(parameter_names(cls)))

    def _audit_sklearn_kernel(self, node: Any, where: str, depth: int) -> None:
        cls: Any = sklearn_kernel_class(node["class"])
        self._audit_table(node["params"], where, depth)
        names = set(inspect.signature(cls.__init__).parameters) - {"self"}
        unknown = sorted(set(node["params"]) ^ names)
        if unknown:
            refuse(where, f"the parameters of {cls.__name__} are not {unknown[0]!r:.60}")

    def _audit_foreign(self, node: Any, where: str, depth: int) -> None:
        self._audit_function(node, where, depth)
        self._audit_table(node["params"], where, depth)
        self._audit_table(node["state"], where, depth)

    def _audit_record(self, node: Any, where: str, depth: int) -> None:
        cls: Any = own_class(node["class"], "record")
        names = {f.name for f in fields(cls)} if is_dataclass(cls) else set(cls._fields)
        self._audit_table(node["fields"], where, depth)
        unknown = sorted(set(node["fields"]) - names)
        if unknown:
            refuse(where, f"{cls.__name__} has no field {unknown[0]!r:.60}")
