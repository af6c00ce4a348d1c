"""Reading tables: every number to the last bit, every mistake with its line."""

import gzip
import io
import math
import os
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file

from mercer import _jit
from mercer.io import DataFileError, Table, read_batches, read_data, sources, svmlight
from mercer.io import delimited as delimited_reader

pytestmark = pytest.mark.core


def decimals(texts, alone):
    """Read numbers with the compiled loop: values, and 0 where it was sure."""
    pieces = [t.encode() for t in texts]
    ends = (np.cumsum([len(p) + 1 for p in pieces]) - 1).astype(np.int64)
    starts = ends - [len(p) for p in pieces]
    out, status = np.empty(len(pieces)), np.empty(len(pieces), dtype=np.uint8)
    text = np.frombuffer(b",".join(pieces) + b"," + b"9" * 40, np.uint8)
    _jit.decimals.read_numbers(text, starts, ends, alone, out, status)
    return out, status


def assert_exact(texts, most_left=0.0):
    want = np.array([float(t) for t in texts])  # Python rounds correctly: the naive twin
    for alone in (False, True):
        out, status = decimals(texts, alone)
        sure = status == 0
        np.testing.assert_array_equal(out[sure].view(np.int64), want[sure].view(np.int64))
        assert (~sure).mean() <= most_left


def random_floats(n, seed=0):
    bits = np.random.default_rng(seed).integers(0, 2**63, n).view(np.float64)
    return bits[np.isfinite(bits)].tolist()


def test_shortest_and_longest_forms_of_any_float_are_exact():
    values = random_floats(5000)
    assert_exact([repr(v) for v in values], 0.01)
    assert_exact([repr(-v) for v in values], 0.01)
    assert_exact([f"{v:.18e}" for v in values], 0.01)
    assert_exact([f"{v:.6g}" for v in values], 0.01)


def test_any_mantissa_with_any_exponent_is_exact():
    rng = np.random.default_rng(1)
    pairs = zip(
        rng.integers(1, 2**63 - 1, 5000).tolist(), rng.integers(-330, 300, 5000).tolist(), strict=True
    )
    assert_exact([f"{w}e{q}" for w, q in pairs], 0.08)


def test_halfway_cases_go_to_even():
    rng = np.random.default_rng(2)
    whole = rng.integers(2**52, 2**53, 3000).tolist()
    assert_exact([str(2 * w + 1) for w in whole])
    assert_exact([f"{w}.5" for w in rng.integers(2**50, 2**52, 3000).tolist()])
    near = []
    for x in rng.uniform(1, 2**20, 2000).tolist():
        middle = (Decimal(x) + Decimal(math.nextafter(x, math.inf))) / 2
        near.append(f"{middle:.18e}")
    assert_exact(near)


def test_zeros_signs_and_plain_forms():
    assert_exact(
        ["0", "-0", "0.0", "-0.0", "1", "00012", "+5", ".5", "5.", "1e5", "1E-5", "0e400", "0.00000000000012"]
    )
    strange = ["1e400", "1e-320", "12345678901234567890123", "", "-", ".", "e5", "1e", "abc", "1_0", "1.2.3"]
    for alone in (False, True):
        assert decimals(strange, alone)[1].tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]


def test_any_number_of_digits_before_and_after_the_point():
    rng = np.random.default_rng(3)
    texts = []
    for before in range(12):
        for after in range(22):
            digits = "".join(map(str, rng.integers(0, 10, before + after)))
            texts.append(f"{digits[:before] or '0'}.{digits[before:]}")
            texts.append(f"-{digits[:before] or '0'}.{'0' * after}{digits[before:]}")
    assert_exact(texts, 0.5)  # more than 19 digits are left to Python
    short = [t for t in texts if len(t.replace(".", "").lstrip("-0")) <= 19]
    assert_exact(short)


# -- delimited files --------------------------------------------------------------------------------------


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|", " "])
def test_numbers_come_back_exactly(tmp_path, sep, end):
    X = np.array(random_floats(4000, 3)[:3990]).reshape(-1, 6) * np.array([1, -1, 1, -1, 1, 1.0])
    text = end.join(sep.join(map(repr, row)) for row in X.tolist()) + end
    table = read_data(write(tmp_path, "t.txt", text), format="csv", n_jobs=2)
    np.testing.assert_array_equal(np.column_stack([table.X, table.y]).view(np.int64), X.view(np.int64))
    assert list(table.feature_names) == ["x0", "x1", "x2", "x3", "x4"]
    assert not table.named


def naive(text, sep=","):
    """Read a table of numbers the slow way."""
    rows = [line.split(sep) for line in text.splitlines() if line.strip()]
    return np.array([[float(c) if c.strip() else math.nan for c in row] for row in rows])


def test_several_threads_may_be_the_first_to_need_the_compiler(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    path = write(tmp_path, "t.csv", "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    code = f"from mercer.io import read_data; print(read_data({str(path)!r}, n_jobs=4).X.sum())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}  # nothing is compiled yet
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == X[:, :2].copy().sum()


def test_many_small_parts_give_the_same_as_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    text = (
        "\n".join(",".join(f"{v:.3g}" if v > -1.5 else "" for v in row) for row in rng.normal(size=(900, 3)))
        + "\n\n"
    )
    text = text.replace("\n", "\n\n", 20)
    path = write(tmp_path, "t.csv", text)
    want = naive(text)
    for jobs in (1, 3):
        monkeypatch.setattr(delimited_reader, "BLOCK", 700)
        monkeypatch.setattr(sources, "PIECE", 512)
        monkeypatch.setattr(sources, "HEAD", 512)
        np.testing.assert_array_equal(read_data(path, target=None, n_jobs=jobs).X, want)
        batches = list(read_batches(path, batch_rows=7, n_jobs=jobs))
        np.testing.assert_array_equal(np.vstack([b.X for b in batches]), want)
        assert [b.first_row for b in batches] == np.cumsum([0, *[b.n_rows for b in batches]])[:-1].tolist()
        assert max(b.n_rows for b in batches) <= 7


@pytest.mark.parametrize("kind", ["csv", "svmlight"])
def test_batches_take_constant_memory(tmp_path, monkeypatch, kind):
    line = {"csv": "1.25,2.5,3,4,5,6,7,8\n", "svmlight": "1 1:1.25 2:2.5 3:3 4:4\n"}[kind]
    path = write(tmp_path, "t.txt", line * 20)
    for _ in read_batches(path, format=kind, n_jobs=1):  # compiled before memory is looked at
        pass
    for module in (delimited_reader, svmlight):
        monkeypatch.setattr(module, "BLOCK", 1 << 16)
    monkeypatch.setattr(sources, "PIECE", 1 << 14)
    peaks = []
    for rows in (20_000, 200_000):
        write(tmp_path, "t.txt", line * rows)
        tracemalloc.start()
        assert sum(b.n_rows for b in read_batches(path, format=kind, n_jobs=1, batch_rows=1000)) == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_headers_targets_and_missing_values(tmp_path):
    path = write(tmp_path, "t.csv", "\ufeffage,income,ok\n1,2,yes\n3,,no\n\n?,6.25,yes")
    table = read_data(path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, np.nan], [np.nan, 6.25]])
    assert table.y.tolist() == ["yes", "no", "yes"]
    assert (table.feature_names, table.target_name) == (("age", "income"), "ok")
    assert table.n_missing() == {"age": 1, "income": 1}
    chosen = read_data(path, target="income", features=["age"])
    np.testing.assert_array_equal(chosen.X, [[1], [3], [np.nan]])
    assert read_data(path, target=0, features=["income"]).target_name == "age"
    assert read_data(path, target=-1).target_name == "ok"
    assert read_data(path, target="first", features=["income"]).target_name == "age"
    assert read_data(path, target=None, features=["income"]).y is None
    np.testing.assert_array_equal(table.select(["income", "age"]).X, table.X[:, ::-1])


def test_quotes_hide_separators_and_line_ends(tmp_path):
    text = 'a,"b, and\tc",y\n1,"2.5","he said ""no"",\nand left"\n"3",4,5" pipe\n'
    table = read_data(write(tmp_path, "t.csv", text))
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 4]])
    assert list(table.feature_names) == ["a", "b, and\tc"]
    assert table.y.tolist() == ['he said "no",\nand left', '5" pipe']


def test_an_empty_cell_may_end_the_file(tmp_path):
    for text in ("a,b,y\n1,2,", "a,b,y\n1,2, ", "a,b,y\r\n1,2,\r"):
        table = read_data(write(tmp_path, "t.csv", text), target="a")
        np.testing.assert_array_equal(table.X, [[2.0, np.nan]])


def test_hard_numbers_and_spaces(tmp_path):
    text = "a,b,y\n 1e400 , 1e-320,1\n-inf,1234567890123456789012345678,0\nNA, nan ,1\n"
    table = read_data(write(tmp_path, "t.csv", text))
    want = np.array([[math.inf, 1e-320], [-math.inf, 1234567890123456789012345678.0], [math.nan, math.nan]])
    np.testing.assert_array_equal(table.X, want)


def test_a_first_row_with_a_number_is_no_header(tmp_path):
    assert read_data(write(tmp_path, "a.csv", "1,x\n2,y\n")).n_rows == 2
    assert read_data(write(tmp_path, "b.csv", "1,x\n2,y\n"), header=True).n_rows == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", r"line 3: 1 cells separated by ',', but the rows before have 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 cells"),
        ("a,b\n1,2,\n", "line 2: 3 cells"),
        ('a,b\n1,2\n"3,4\n', "line 3: a quote is opened here and never closed"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("a,b\n", "has no rows"),
        ("", "has no rows"),
        ("\n\n\n", "has no rows"),
        ("a\n1\n", "no column left for features"),
        ("a,b\n1,\0\n", "zero bytes"),
        ("a,b\n1,x\n2,\n", "target 'b' is missing in 1 rows, first in row 2"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, text, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.csv", text))


def test_text_that_comes_late_is_refused_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_reader, "BLOCK", 64)
    monkeypatch.setattr(sources, "PIECE", 64)
    monkeypatch.setattr(sources, "HEAD", 64)
    path = write(tmp_path, "t.csv", "a,b\n" + "1,2\n" * 100 + "1,red\n")
    with pytest.raises(
        DataFileError, match=r"line 102: 'red' is not a number, but column 'b' held numbers so far"
    ):
        list(read_batches(path))
    with pytest.raises(DataFileError, match="column 'b' is to hold numbers"):
        read_data(path, categorical=[])


def test_wrong_requests_are_refused(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,2\n")
    for options, message in (
        ({"target": "c"}, "target='c': t.csv has no such column; its columns are 'a', 'b'"),
        ({"target": 5}, "numbered from 0 to 1"),
        ({"features": ["z"]}, "has no column 'z'"),
        ({"format": "xls"}, "format='xls' is not known"),
        ({"separator": ",,"}, "must be one character"),
        ({"header": "maybe"}, "must be True, False or 'auto'"),
        ({"max_bytes": 3}, "raise max_bytes"),
    ):
        with pytest.raises(DataFileError, match=message):
            read_data(path, **options)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_data(tmp_path / "none.csv")
    with pytest.raises(DataFileError, match="is a folder"):
        read_data(tmp_path)
    with pytest.raises(DataFileError, match="batch_rows=0"):
        next(read_batches(path, batch_rows=0))


# -- svmlight ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_agrees_with_scikit_learn(tmp_path, zero_based, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random(500, 30, density=0.2, random_state=0, format="csr")
    X.data[:] = rng.normal(size=X.nnz) * 10.0 ** rng.integers(-300, 300, X.nnz)
    y = rng.integers(-2, 3, 500)
    query = np.repeat(np.arange(50), 10)
    path = tmp_path / "t.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, query_id=query, comment="made up")
    table = read_data(path, zero_based=zero_based, n_features=30, n_jobs=3)
    theirs, labels, ids = load_svmlight_file(str(path), n_features=30, query_id=True, zero_based=zero_based)
    np.testing.assert_array_equal(table.X.toarray().view(np.int64), theirs.toarray().view(np.int64))
    np.testing.assert_array_equal(table.y, labels)
    np.testing.assert_array_equal(table.query, ids)
    monkeypatch.setattr(svmlight, "BLOCK", 900)
    monkeypatch.setattr(sources, "PIECE", 700)
    batches = list(read_batches(path, target="last", batch_rows=33, zero_based=zero_based, n_features=30))
    np.testing.assert_array_equal(sp.vstack([b.X for b in batches]).toarray(), table.X.toarray())
    np.testing.assert_array_equal(np.concatenate([b.y for b in batches]), labels)


def test_svmlight_comments_blank_lines_and_order(tmp_path):
    text = "# a comment\n+1 3:2 1:0.5 # another 9:9\n\n  -1.5\t2:1e-320 \n0\n"
    text += "1e0 1:nan 2:inf 3:12345678901234567890\n"
    table = read_data(write(tmp_path, "t.txt", text))
    assert table.format == "svmlight"
    want = [[0.5, 0, 2], [0, 1e-320, 0], [0, 0, 0], [math.nan, math.inf, 12345678901234567890.0]]
    np.testing.assert_array_equal(table.X.toarray(), want)
    np.testing.assert_array_equal(table.y, [1, -1.5, 0, 1])
    assert table.X.has_sorted_indices
    zero = read_data(write(tmp_path, "z.svm", "1 0:1 2:3\n"))
    assert zero.X.toarray().tolist() == [[1, 0, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2 3\n", "line 1: expected index:value, found '3'"),
        ("0 1:1\n1:2 2:3\n", "line 2: the row has no label"),
        ("1 1:x\n", "the value is not a number"),
        ("1 1:1_0\n", "the value is not a number"),
        ("1 1:\n", "expected index:value"),
        ("1,2 1:3\n", "several labels"),
        ("cat 1:3\n", "the label is not a number"),
        ("1 -1:3\n", "expected index:value"),
        ("1 1:2 1:3\n", "same index twice"),
        ("1 99999999999999999999:3\n", "index is too large"),
        ("1 qid:x 1:2\n", "qid must be a whole number"),
        ("1 qid:1 1:2\n1 1:2\n", "1 of 2 rows have a qid"),
        ("# nothing\n", "has no rows"),
    ],
)
def test_svmlight_mistakes_are_named(tmp_path, text, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.svm", text))


# -- other formats ----------------------------------------------------------------------------------------


ARFF = """% a comment
@RELATION weather
@attribute 'air temperature' REAL
@attribute wind numeric
@attribute play {yes, 'not today'}
@data
20.5, 3, yes
% in between
?,4.5,'not today'
"""


def test_arff_dense_and_sparse(tmp_path):
    path = write(tmp_path, "t.arff", ARFF)
    table = read_data(path)
    np.testing.assert_array_equal(table.X, [[20.5, 3], [math.nan, 4.5]])
    assert table.y.tolist() == ["yes", "not today"]
    assert table.feature_names == ("air temperature", "wind")
    sparse = ARFF.partition("@data")[0] + "@data\n{0 1.5, 2 'not today'}\n{1 -2}\n"
    table = read_data(write(tmp_path, "s.arff", sparse))
    np.testing.assert_array_equal(table.X, [[1.5, 0], [0, -2]])
    assert table.y.tolist() == ["not today", "yes"]
    for name in ("t.arff", "s.arff"):
        whole = read_data(tmp_path / name)
        batches = list(read_batches(tmp_path / name, target="play", batch_rows=1))
        np.testing.assert_array_equal(np.vstack([b.X for b in batches]), whole.X)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@data", "@datum", "has no line @data"),
        ("numeric", "date", "attribute 'wind' is of type 'date'"),
        ("4.5", "much", "'much' is not a number"),
        ("'not today'\n", "never\n", "'never' is not among the declared values of 'play'"),
        ("4.5,", "4.5,,", "4 cells"),
        ("@attribute wind", "wind", "has no meaning before @data"),
        ("today'}", "today'", "no closing brace"),
    ],
)
def test_arff_mistakes_are_named(tmp_path, old, new, message):
    with pytest.raises(DataFileError, match=message):
        read_data(write(tmp_path, "bad.arff", ARFF.replace(old, new)))


def test_npz_dense_sparse_and_one_table(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.array(["a", "b"] * 10)
    np.savez_compressed(
        tmp_path / "a.npz",
        X=np.asfortranarray(X),
        y=y,
        sample_weight=np.ones(20),
        feature_names=["u", "v", "w"],
    )
    table = read_data(tmp_path / "a.npz")
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    assert table.feature_names == ("u", "v", "w")
    np.testing.assert_array_equal(table.sample_weight, np.ones(20))
    np.savez(tmp_path / "b.npz", X.astype(np.float32))
    assert read_data(tmp_path / "b.npz").X.shape == (20, 2)
    for kind in ("csr", "csc", "coo"):
        sp.save_npz(tmp_path / "c.npz", sp.random(9, 4, 0.5, format=kind, random_state=0))
        np.testing.assert_array_equal(
            read_data(tmp_path / "c.npz", target=None).X.toarray(),
            sp.random(9, 4, 0.5, random_state=0).toarray(),
        )
    assert [b.n_rows for b in read_batches(tmp_path / "a.npz", batch_rows=15)] == [15, 5]


def test_gzip_of_any_format(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=[1, 2, 3])
    sources_ = {
        "t.csv": b"a,b\n1,2\n3,4\n",
        "t.svm": b"1 1:2\n",
        "t.arff": ARFF.encode(),
        "a.npz": (tmp_path / "a.npz").read_bytes(),
    }
    for name, content in sources_.items():
        plain = read_data(write(tmp_path, name, content))
        packed = gzip.compress(content[:7]) + gzip.compress(
            content[7:]
        )  # two members, as concatenated files have
        zipped = read_data(write(tmp_path, f"{name}.gz", packed))
        assert zipped.format == plain.format
        np.testing.assert_array_equal(np.nan_to_num(_dense(zipped)), np.nan_to_num(_dense(plain)))


def _dense(table):
    return table.X.toarray() if table.is_sparse else table.X


def test_formats_are_recognised_by_content(tmp_path):
    for content, kind in (
        (ARFF.encode(), "arff"),
        (b"# c\n1 qid:2 1:3\n", "svmlight"),
        (b"1 2 3\n4 5 6\n", "csv"),
    ):
        assert read_data(write(tmp_path, "mystery", content)).format == kind


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_data("-").source == "standard input"


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"])
def test_data_sets_of_scikit_learn_by_name(name):
    table = read_data(name)
    assert isinstance(table, Table)
    assert table.n_rows == len(table.y)
    assert len(table.feature_names) == table.n_features
    assert sum(b.n_rows for b in read_batches(name, batch_rows=50)) == table.n_rows


def test_classes_of_named_sets_have_their_names():
    table = read_data("iris")
    np.testing.assert_array_equal(table.X, load_iris().data)
    assert sorted(set(table.y.tolist())) == ["setosa", "versicolor", "virginica"]


def test_a_file_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "iris", "1,2\n3,4\n")
    assert read_data("iris").n_rows == 2
