"""Damaged and hostile model files: a clear error, bounded memory, nothing written, nothing executed."""

import json
import struct

import numpy as np
import pytest
import scipy.sparse as sp
from file_samples import data
from hostile_samples import CONTENT, DECISIONS, POINTS, damaged, watching

import mercer
from mercer.io import (
    ModelFileError,
    dumps,
    inspect,
    loads,
)
from mercer.io.model.safetensors_file import FORMAT, pack, unpack

pytestmark = pytest.mark.core


@pytest.mark.parametrize("seed", range(40))
def test_damaged_model_files_are_refused(seed, guarded):
    content = damaged(CONTENT, seed)
    try:
        again = loads(content).model
    except ModelFileError:
        return
    # What was damaged may have been the blanks at the header's end: then nothing is lost.
    np.testing.assert_array_equal(again.decision_function(POINTS), DECISIONS)
    assert content.replace(b" ", b"") == CONTENT.replace(b" ", b"")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.5, 0.9, 0.9999])
def test_truncated_model_files_are_refused(share, guarded):
    with pytest.raises(ModelFileError):
        loads(CONTENT[: int(share * len(CONTENT))])


def test_trailing_bytes_are_refused(guarded):
    with pytest.raises(ModelFileError):
        loads(CONTENT + b"\0" * 8)


def header_file(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


EMPTY = {"__metadata__": {FORMAT: "0" * 64 + "\n{}"}}

BAD_CONTAINERS = {
    "huge header length": struct.pack("<Q", 2**63) + b"{}",
    "header longer than file": struct.pack("<Q", 10**7) + b"{}",
    "no json": header_file(b"\x80\x04not json"),
    "deep json": header_file(b"[" * 200_000),
    "deep description": header_file({"__metadata__": {FORMAT: "0" * 64 + "\n" + '{"a":' * 100_000}}),
    "no metadata": header_file({}),
    "other metadata": header_file({"__metadata__": {"format": "pt"}}),
    "metadata is a list": header_file({"__metadata__": [1]}),
    "no protocol": header_file(EMPTY),
    "protocol is true": header_file({"__metadata__": {FORMAT: "0" * 64 + '\n{"protocol": true}'}}),
    "protocol of the future": header_file({"__metadata__": {FORMAT: "0" * 64 + '\n{"protocol": 10000000}'}}),
    "nan in json": header_file({"__metadata__": {FORMAT: "0" * 64 + '\n{"protocol": NaN}'}}),
    "huge integer": header_file(
        {"__metadata__": {FORMAT: "0" * 64 + '\n{"protocol": ' + "9" * 10_000 + "}"}}
    ),
    "doubled key": header_file({"__metadata__": {FORMAT: "0" * 64 + '\n{"protocol": 1, "protocol": 1}'}}),
    "declared shape of a petabyte": header_file(
        {**EMPTY, "a0": {"dtype": "F64", "shape": [10**7, 10**8], "data_offsets": [0, 8 * 10**15]}},
        b"\0" * 64,
    ),
    "overflowing shape": header_file(
        {**EMPTY, "a0": {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 64]}}, b"\0" * 64
    ),
    "negative offsets": header_file(
        {**EMPTY, "a0": {"dtype": "F64", "shape": [1], "data_offsets": [-8, 0]}}, b"\0" * 8
    ),
    "pickle": b"\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
    "empty": b"",
    "text": b"svm_type c_svc\nSV\n",
}


@pytest.mark.parametrize("name", BAD_CONTAINERS)
def test_hostile_containers_are_refused(name, tmp_path, guarded):
    content = BAD_CONTAINERS[name]
    with pytest.raises(ModelFileError):
        loads(content)
    (tmp_path / "given").touch()
    watching[0] = False
    (tmp_path / "given").write_bytes(content)
    watching[0] = True
    with pytest.raises(ModelFileError, match="given"):
        mercer.load(tmp_path / "given")
    if name not in ("declared shape of a petabyte", "overflowing shape", "negative offsets"):
        with pytest.raises(ModelFileError):
            inspect(tmp_path / "given")


def machine(description):
    """Return the description of the SVC in our pipeline."""
    steps = description["model"]["params"]["steps"]
    return steps[1]["items"][1]


def edit(change):
    """Return a file whose digest holds although its content was changed."""
    description, tensors = unpack(CONTENT)
    tensors = {name: array.copy() for name, array in tensors.items()}
    change(description, tensors)
    return pack(description, tensors)


def tensor_of(description, tensors, name):
    node = machine(description)["state"][name]
    return node, tensors[node["tensor"]]


def set_class(text):
    def change(d, t):
        d["model"]["class"] = text

    return change


def put(name, value):
    def change(d, t):
        machine(d)["state"][name] = value

    return change


def swap(name, make):
    def change(d, t):
        node, array = tensor_of(d, t, name)
        t[node["tensor"]] = make(array)

    return change


def wrap(depth):
    node = None
    for _ in range(depth):
        node = [node]
    return node


EDITS = {
    "another class": set_class("os:system"),
    "a private class": set_class("mercer:_HOMES"),
    "an estimator that is not listed": set_class("sklearn.linear_model:SGDClassifier"),
    "a path as class": set_class("../../evil:run"),
    "a class of a class": set_class("mercer:SVC.__init__"),
    "a number as class": set_class(3),
    "an unknown kind": put("x_", {"kind": "code", "source": "1"}),
    "a kind without fields": put("x_", {"kind": "array"}),
    "a table without kind": put("x_", {"a": 1}),
    "a method replaced": put("predict", 1),
    "a property replaced": put("coef_", 1),
    "a dunder": put("__class__", 1),
    "no identifier": put("a b", 1),
    "a parameter as state": put("C", 1.0),
    "too deep": put("x_", wrap(200)),
    "a value class that is none": put(
        "x_", {"kind": "value", "class": "mercer.kernels:as_kernel", "params": {}, "state": {}}
    ),
    "a record class that is none": put("x_", {"kind": "record", "class": "mercer.gram:Gram", "fields": {}}),
    "a module outside": put("x_", {"kind": "record", "class": "mercer.cli.app:App", "fields": {}}),
    "an unknown function": put("x_", {"kind": "partial", "name": "os:system", "items": ["true"]}),
    "a plain class that is not listed": put(
        "x_", {"kind": "plain", "class": "subprocess:Popen", "state": {}}
    ),
    "a scorer that is none": put("x_", {"kind": "scorer", "name": "evil", "of": None}),
    "a missing array": put("x_", {"kind": "array", "tensor": "a999"}),
    "wrong axes": put("x_", {"kind": "array", "tensor": "a0", "axes": [5, 6]}),
    "objects of a huge shape": put("x_", {"kind": "objects", "shape": [10**9, 10**9], "items": []}),
    "a negative shape": put("x_", {"kind": "objects", "shape": [-1], "items": []}),
    "a type that is not listed": put("x_", {"kind": "type", "name": "builtins.eval"}),
    "a dtype with objects": put("x_", {"kind": "dtype", "name": "O,evil"}),
    "a scalar that is none": put("x_", {"kind": "scalar", "dtype": "<f8", "value": "evil()"}),
    "a float that is none": put("x_", {"kind": "float", "value": "1e5"}),
    "an unhashable key": put("x_", {"kind": "dict", "items": [[[1], 2]]}),
    "half a pair": put("x_", {"kind": "dict", "items": [[1]]}),
    "memory names a folder": lambda d, t: d["model"]["params"].__setitem__("memory", "/evil"),
    "a parameter that is none": lambda d, t: machine(d)["params"].__setitem__("evil", 1),
    "nan in the coefficients": swap("dual_coef_", lambda a: np.where(a == a.max(), np.nan, a)),
    "coefficients too short": swap("dual_coef_", lambda a: a[:, :-1].copy()),
    "coefficients of another type": swap("dual_coef_", lambda a: a.astype(np.int64)),
    "rows that are none": swap("support_", lambda a: a + 1000),
    "negative rows": swap("support_", lambda a: -a - 1),
    "rows that are no numbers": swap("support_", lambda a: a.astype(np.float64)),
    "infinite support vectors": swap("support_vectors_", lambda a: a * np.inf),
    "support vectors too narrow": swap("support_vectors_", lambda a: a[:, :2].copy()),
    "support vectors too few": swap("support_vectors_", lambda a: a[:3].copy()),
    "counts too large": swap("_n_support", lambda a: a + 5),
    "negative counts": swap("_n_support", lambda a: np.array([-5, 10, a.sum() - 5], dtype=a.dtype)),
    "intercepts too few": swap("intercept_", lambda a: a[:1].copy()),
    "links of another shape": swap("link_knots_", lambda a: a[:1].copy()),
    "the same class twice": swap("classes_", lambda a: np.zeros_like(a)),
    "kernel is a number": put("kernel_", 3.0),
    "a wrong kernel parameter": lambda d, t: machine(d)["state"]["kernel_"]["params"].__setitem__(
        "gamma", -1.0
    ),
    "arrays that nothing uses": lambda d, t: t.__setitem__("extra", np.zeros(3)),
    "an entry too many": lambda d, t: d.__setitem__("script", "import os"),
    "an entry missing": lambda d, t: d.pop("training"),
    "training is no record": lambda d, t: d.__setitem__("training", 5),
    "training of nonsense": lambda d, t: d["training"]["fields"].__setitem__("rows", -3),
    "versions are no table": lambda d, t: d.__setitem__("versions", [1]),
    "no estimator": lambda d, t: d.__setitem__("model", 5),
}


@pytest.mark.parametrize("name", EDITS)
def test_hostile_descriptions_are_refused(name, guarded):
    with pytest.raises(ModelFileError):
        loads(edit(EDITS[name]))


def test_the_file_that_was_not_edited_loads():
    again = loads(edit(lambda d, t: None)).model
    np.testing.assert_array_equal(again.decision_function(POINTS), DECISIONS)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts["indices"].__setitem__(0, 10_000),
        lambda parts: parts["indices"].__setitem__(0, -1),
        lambda parts: parts["indptr"].__setitem__(1, 10_000),
        lambda parts: parts["indptr"].__setitem__(0, 1),
    ],
)
def test_sparse_parts_out_of_range_are_refused(change, guarded):
    X, targets = data(n=30)
    model = mercer.SVC().fit(sp.csr_matrix(X), targets["two"])
    description, tensors = unpack(dumps(model))
    node = description["model"]["state"]["support_vectors_"]
    tensors = {name: array.copy() for name, array in tensors.items()}
    change({part: tensors[node[part]["tensor"]] for part in ("indices", "indptr")})
    with pytest.raises(ModelFileError, match="sparse matrix"):
        loads(pack(description, tensors))
