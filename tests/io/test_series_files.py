"""Time series from files."""

import gzip

import numpy as np
import pytest

from mercer.io import DataFileError, fingerprint, read_data, read_series

HEADER = "# two channels\n@problemName Tiny\n@timestamps false\n@classLabel true up down\n@data\n"


def written(place, text):
    path = place / "tiny.ts"
    path.write_text(text)
    return path


@pytest.mark.core
def test_series_of_unequal_lengths_with_classes(tmp_path):
    path = written(tmp_path, HEADER + "1,2,3:4,5,6:up\n\n1,2,?:0.5,-1e-3,?:down\n")
    data = read_series(path)
    assert data.name == "Tiny"
    assert data.y.tolist() == ["up", "down"]
    assert [x.tolist() for x in data.X] == [[[1, 4], [2, 5], [3, 6]], [[1, 0.5], [2, -0.001]]]
    packed = tmp_path / "tiny.ts.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert len(read_series(packed)) == 2


@pytest.mark.core
def test_numbers_as_targets_and_none(tmp_path):
    data = read_series(written(tmp_path, "@targetlabel true\n@data\n1,2:0.5\n3,4,5:2\n"))
    assert data.y.tolist() == [0.5, 2.0]
    data = read_series(written(tmp_path, "@classLabel false\n@data\n1,2\n3,4,5\n"))
    assert data.y is None
    assert [x.shape for x in data.X] == [(2, 1), (3, 1)]


def test_a_table_of_series(tmp_path):
    pytest.importorskip("pandas")
    path = written(tmp_path, HEADER + "1,2,3:4,5,6:up\n1,2:0.5,1:down\n")
    table = read_data(path)
    assert table.format == "ts"
    assert list(table.feature_names) == ["series"]
    assert table.y.tolist() == ["up", "down"]
    np.testing.assert_array_equal(table.X["series"][1], [[1, 0.5], [2, 1]])
    assert read_data(path, target=None).y is None


@pytest.mark.core
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2:3\n", "line 1: '1,2:3' stands before '@data'"),
        ("@univariate true\n", "no line '@data'"),
        ("@timestamps true\n@data\n(0,1)\n", "line 3: could not convert"),
        ("@timestamps true\n@data\n", "time stamp"),
        (HEADER + "1,2:3:up\n", "line 6: channels have 1 and 2 values"),
        (HEADER + "1,?,2:3,4,5:up\n", "the value at time 1 is missing"),
        (HEADER + "up\n", "a label and no series"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(DataFileError, match=message):
        read_series(written(tmp_path, text))


@pytest.mark.core
def test_fingerprints_of_graphs_see_all_of_their_edges():
    edges = np.arange(4000).reshape(2000, 2)
    other = edges.copy()
    other[1000, 0] += 1  # where repr would show dots
    one, two, same = ({"nodes": 4000, "edges": e} for e in (edges, other, edges.copy()))
    assert fingerprint([one]) == fingerprint([same]) != fingerprint([two])
