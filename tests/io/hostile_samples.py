"""Good files, ways to damage them, and an eye on what a reader does with them."""

import gzip
import io
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
from file_samples import data
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.io import (
    dumps,
    loads,
    read_data,
)
from mercer.io.libsvm.conversion import to_libsvm
from mercer.io.libsvm.model_text import format_libsvm_model, parse_libsvm_model

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


@contextmanager
def guarding(folder):
    """Run with an eye on memory, on files and on what is executed."""
    seen.clear()
    tracemalloc.start()
    watching[0] = True
    before = sorted(p.name for p in folder.iterdir())
    yield
    watching[0] = False
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not seen, f"a file made the reader do this: {seen}"
    assert peak < MEMORY
    made = {p.name for p in folder.iterdir()} - set(before)
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


def libsvm_text():
    X, targets = data(n=30)
    return format_libsvm_model(to_libsvm(mercer.SVC().fit(X, targets["three"]))).encode()


LIBSVM = libsvm_text()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


TABLES = {
    "t.csv": b"a,b,c\n" + b"1.5,2,x\n-3,,y\n" * 5,
    "t.svm": b"1 qid:1 1:2 3:4\n-1 qid:2 2:1e5\n" * 5,
    "t.arff": b"@relation r\n@attribute a numeric\n@attribute c {u,v}\n@data\n1,u\n2,v\n",
    "t.npz": npz(X=np.arange(12.0).reshape(4, 3), y=np.arange(4)),
    "t.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 50),
}


def compile_readers(folder):
    """Compile what the readers need, which writes files too."""
    for name, content in {**TABLES, "q.csv": b'a,"b"\n1,"x"\n'}.items():
        (folder / name).write_bytes(content)
        read_data(folder / name, n_jobs=1)
    parse_libsvm_model(LIBSVM)
    loads(CONTENT).model.predict(POINTS)
