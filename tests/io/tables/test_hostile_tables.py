"""Damaged and hostile data files: a clear error, bounded memory, nothing written, nothing executed."""

import gzip
import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hostile_samples import TABLES, damaged, npz, watching

from mercer.io import (
    DataFileError,
    MissingExtraError,
    read_batches,
    read_data,
)

pytestmark = pytest.mark.core


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
    "utf16.csv": "a,b\n1,x\n".encode("utf-16-le"),
    "utf16_cut.csv": "a,b\n1,x\n".encode("utf-16")[:-1],
    "book.xlsx": b"PK\x03\x04\x14" + b"\0" * 25 + b"[Content_Types].xml" + b"\0" * 99,
    "book.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
    "rows.jsonl": b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
    "rows.json": b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
    "page.html": b"<!DOCTYPE html>\n<html><body>404, not found</body></html>\n",
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
