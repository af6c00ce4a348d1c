"""Damaged and hostile files: a clear error, bounded memory, nothing written, nothing executed."""

import gzip
import io
import json
import struct
import sys
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from file_samples import data
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.io import (
    DataFileError,
    MissingExtraError,
    ModelFileError,
    dumps,
    inspect,
    loads,
    read_batches,
    read_data,
    read_libsvm_model,
)
from mercer.io.container import FORMAT, pack, unpack
from mercer.io.libsvm import to_libsvm
from mercer.io.libsvm_text import format_libsvm_model, parse_libsvm_model

pytestmark = pytest.mark.core

MEMORY = 150e6  # bytes at most while a hostile file is refused
FORBIDDEN = (
    "os.system",
    "subprocess.Popen",
    "pickle.find_class",
    "os.exec",
    "os.remove",
    "os.rename",
    "shutil.rmtree",
)
seen: list[str] = []
watching = [False]


def _hook(event, arguments):
    if watching[0]:
        writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        if (
            event in FORBIDDEN
            or writes
            or (event == "import" and str(arguments[0]).startswith(("evil", "os.path")))
        ):
            seen.append(f"{event}{arguments!r:.100}")


sys.addaudithook(_hook)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile what the readers need, which writes files too."""
    folder = tmp_path_factory.mktemp("compiled")
    for name, content in {**TABLES, "q.csv": b'a,"b"\n1,"x"\n'}.items():
        (folder / name).write_bytes(content)
        read_data(folder / name, n_jobs=1)
    parse_libsvm_model(LIBSVM)
    loads(CONTENT).model.predict(POINTS)


@pytest.fixture
def guarded(tmp_path, compiled):
    """Run with an eye on memory, on files and on what is executed."""
    seen.clear()
    tracemalloc.start()
    watching[0] = True
    before = sorted(p.name for p in tmp_path.iterdir())
    yield
    watching[0] = False
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not seen, f"a file made the reader do this: {seen}"
    assert peak < MEMORY
    made = {p.name for p in tmp_path.iterdir()} - set(before)
    assert all(name.startswith("given") for name in made), f"these files appeared: {made}"


def small_model():
    X, targets = data(n=30)
    model = make_pipeline(StandardScaler(), mercer.SVC(probability=True)).fit(X, targets["three"])
    return model, X


MODEL, POINTS = small_model()
CONTENT = dumps(MODEL)
DECISIONS = MODEL.decision_function(POINTS)


def damaged(content, seed):
    """Return bytes with a few of them changed, lost, doubled or put in."""
    rng = np.random.default_rng(seed)
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, max(1, len(out))))
        kind = rng.integers(0, 5)
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            del out[at:]
        elif kind == 2:
            del out[at : at + int(rng.integers(1, 50))]
        elif kind == 3:
            out[at:at] = rng.integers(0, 256, int(rng.integers(1, 50)), dtype=np.uint8).tobytes()
        else:
            end = at + int(rng.integers(1, 200))
            out[at:end] = bytes(reversed(out[at:end]))
    return bytes(out)


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


# -- LIBSVM's files ---------------------------------------------------------------------------------------


def libsvm_text():
    X, targets = data(n=30)
    return format_libsvm_model(to_libsvm(mercer.SVC().fit(X, targets["three"]))).encode()


LIBSVM = libsvm_text()


@pytest.mark.parametrize("seed", range(25))
def test_damaged_libsvm_models_are_refused_or_make_sense(seed, guarded):
    try:
        stored = parse_libsvm_model(damaged(LIBSVM, seed))
    except ModelFileError:
        return
    assert np.isfinite(stored.coef).all()  # a changed digit cannot be told from another model
    assert stored.coef.shape[1] == stored.vectors.shape[0] == stored.n_support.sum()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"c_svc", b"evil", "svm_type"),
        (b"kernel_type rbf", b"kernel_type evil", "kernel_type"),
        (b"nr_class 3", b"nr_class 300000000", "make no sense"),
        (b"nr_class 3", b"nr_class 4", "instead of"),
        (b"total_sv ", b"total_sv 9", "total_sv"),
        (b"gamma ", b"gamma nan ", "finite"),
        (b"gamma ", b"gamma -", "gamma"),
        (b"label 0 1 2", b"label 0 1 1", "twice"),
        (b"label 0 1 2", b"label 0 1 x", "must be numbers"),
        (b"nr_sv ", b"nr_sv -1 ", "instead of"),
        (b"SV\n", b"SW\n", "no entry"),
        (b"rho", b"rh\xf4", "no entry"),
        (b"SV\n", b"SV\nnan nan 1:1\n", "support vectors"),
        (b"svm_type", b"svm_type c_svc\nsvm_type", "twice"),
    ],
)
def test_wrong_libsvm_models_are_refused(old, new, message, tmp_path, guarded):
    watching[0] = False
    (tmp_path / "given").write_bytes(LIBSVM.replace(old, new, 1))
    watching[0] = True
    with pytest.raises(ModelFileError, match=message):
        read_libsvm_model(tmp_path / "given")


# -- data files -------------------------------------------------------------------------------------------


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def zipped(members, level=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", level) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy_header(text):
    body = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def bomb(size):
    """Return a gzip of very many zeros, packed twice as fast as it unpacks."""
    pack = zlib.compressobj(9, wbits=31)
    piece = b"0" * (1 << 20)
    return b"".join(pack.compress(piece) for _ in range(size >> 20)) + pack.flush()


TABLES = {
    "t.csv": b"a,b,c\n" + b"1.5,2,x\n-3,,y\n" * 5,
    "t.svm": b"1 qid:1 1:2 3:4\n-1 qid:2 2:1e5\n" * 5,
    "t.arff": b"@relation r\n@attribute a numeric\n@attribute c {u,v}\n@data\n1,u\n2,v\n",
    "t.npz": npz(X=np.arange(12.0).reshape(4, 3), y=np.arange(4)),
    "t.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 50),
}

HOSTILE = {
    "bomb.csv.gz": bomb(200 << 20),
    "bomb.npz": zipped(
        {
            "X.npy": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (25000000, 1)}")
            + bytes(200 << 20)
        }
    ),
    "shape.npz": zipped(
        {"X.npy": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000)}")}
    ),
    "negative.npz": zipped(
        {"X.npy": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}") + bytes(8)}
    ),
    "deep.npz": zipped({"X.npy": npy_header("(" * 20000)}),
    "code.npz": zipped({"X.npy": npy_header("__import__('os').system('true')")}),
    "object.npz": zipped(
        {"X.npy": npy_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}") + b"cos\nsystem\n."}
    ),
    "path.npz": zipped(
        {"../../evil.npy": npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}")}
    ),
    "foreign.npz": zipped({"setup.py": b"import os"}),
    "names.npz": npz(u=np.eye(2), v=np.eye(3)),
    "flat.npz": npz(X=np.arange(3.0), y=np.arange(3)),
    "lengths.npz": npz(X=np.eye(3), y=np.arange(4)),
    "sparse.npz": npz(
        format=np.array("csr"),
        shape=np.array([2, 2]),
        data=np.ones(2),
        indices=np.array([0, 9]),
        indptr=np.array([0, 1, 2]),
    ),
    "sparse_shape.npz": npz(
        format=np.array("csr"),
        shape=np.array([10**12, 2]),
        data=np.ones(1),
        indices=np.zeros(1, int),
        indptr=np.array([0, 1]),
    ),
    "short.csv.gz": gzip.compress(b"a,b\n1,2\n" * 1000)[:-20],
    "crc.csv.gz": gzip.compress(b"a,b\n1,2\n" * 1000)[:-8] + bytes(8),
    "tail.csv.gz": gzip.compress(b"a,b\n1,2\n") + b"evil",
    "index.svm": b"1 2147483648:1\n",
    "wide.csv": b",".join([b"1"] * 2_000_000) + b"\n",
    "binary.csv": bytes(range(256)) * 10,
    "utf16.csv": "a,b\n1,x\n".encode("utf-16"),
    "latin.csv": "a,b\n1,caf\xe9\n".encode("latin-1"),
    "header.arff": b"@relation r\n" + b"@attribute a numeric\n" * 5,
    "huge_index.arff": b"@relation r\n@attribute a numeric\n@data\n{99999999999999999999 1}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_data_files_are_refused(name, tmp_path, guarded):
    watching[0] = False
    path = tmp_path / f"given_{name}"
    path.write_bytes(HOSTILE[name])
    watching[0] = True
    with pytest.raises(DataFileError, match=r"\S+ \S+"):
        read_data(path, n_jobs=1)
    with pytest.raises(DataFileError, match=r"\S+ \S+"):
        for _ in read_batches(path, n_jobs=1, target="last"):
            pass


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", range(10))
def test_damaged_data_files_are_refused_or_read(name, seed, tmp_path, guarded):
    watching[0] = False
    path = tmp_path / f"given_{name}"
    path.write_bytes(damaged(TABLES[name], seed))
    watching[0] = True
    try:
        table = read_data(path, n_jobs=1)
    except (DataFileError, MissingExtraError):  # the damage may have turned numbers into text
        return
    assert table.n_rows >= 1
    assert table.y is None or len(table.y) == table.n_rows
