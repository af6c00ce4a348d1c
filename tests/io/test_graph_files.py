"""Graphs from files."""

import numpy as np
import pytest

from mercer.io import DataFileError, read_graphs
from mercer.kernels import WeisfeilerLehman

pytestmark = pytest.mark.core


def folder(place, **parts):
    """Write a small data set: a path of three, a lonely node, a directed pair."""
    files = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n5, 6\n",
        "graph_indicator": "1\n1\n1\n2\n3\n3\n",
        "graph_labels": "1\n-1\n1\n",
        "node_labels": "7\n8\n7\n8\n8\n8\n",
        "edge_labels": "0\n0\n1\n1\n0\n",
    } | parts
    for name, text in files.items():
        if text is not None:
            (place / f"TINY_{name}.txt").write_text(text)
    return place


def test_a_folder_in_the_layout_of_tudataset(tmp_path):
    data = read_graphs(folder(tmp_path))
    assert data.name == "TINY"
    assert data.y.tolist() == [1, -1, 1]
    assert [graph["nodes"] for graph in data.X] == [3, 1, 2]
    assert [graph["directed"] for graph in data.X] == [False, False, True]
    assert data.X[0]["edges"].tolist() == [[0, 1], [1, 2]]
    assert data.X[0]["labels"] == [7, 8, 7]
    assert data.X[0]["edge_labels"] == [0, 1]
    assert WeisfeilerLehman(1)(data.X)[0, 0] == 10.0


def test_vectors_and_numbers_as_targets(tmp_path):
    parts = {"graph_labels": None, "graph_attributes": "0.5\n1\n2\n", "node_labels": None}
    data = read_graphs(folder(tmp_path, **parts, node_attributes="1,2\n" * 6))
    assert data.y.tolist() == [0.5, 1.0, 2.0]
    assert "labels" not in data.X[0]
    np.testing.assert_array_equal(data.X[1]["vectors"], [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"A": None}, "holds 0 files NAME_A.txt"),
        ({"graph_indicator": None}, "graph_indicator.txt is missing"),
        ({"graph_indicator": "1\n2\n1\n2\n3\n3\n"}, "never fall"),
        ({"A": "1, 9\n"}, "from 1 to 6"),
        ({"A": "1, 5\n", "edge_labels": "0\n"}, "between two graphs"),
        ({"A": "a, b\n"}, "no table of numbers"),
        ({"node_labels": "1\n"}, "node_labels.txt has 1 lines; 6 are needed"),
        ({"graph_labels": "1\n"}, "1 lines for 3 graphs"),
    ],
)
def test_what_is_wrong_with_a_folder(tmp_path, parts, message):
    with pytest.raises(DataFileError, match=message):
        read_graphs(folder(tmp_path, **parts))


@pytest.mark.parametrize("kind", ["graphml", "gml"])
def test_files_through_networkx(tmp_path, kind):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("a", "b"), ("b", "c")])
    nx.set_node_attributes(graph, {"a": "C", "b": "O", "c": "C"}, "kind")
    getattr(nx, f"write_{kind}")(graph, tmp_path / f"one.{kind}")
    data = read_graphs(tmp_path / f"one.{kind}")
    kernel = WeisfeilerLehman(2, node_label="kind")
    np.testing.assert_array_equal(kernel(data.X), kernel([([(0, 1), (1, 2)], ["C", "O", "C"])]))
    (tmp_path / f"bad.{kind}").write_text("<graph")
    with pytest.raises(DataFileError, match="cannot be read"):
        read_graphs(tmp_path / f"bad.{kind}")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("1")
    with pytest.raises(DataFileError, match="neither a folder"):
        read_graphs(tmp_path / "a.txt")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        read_graphs(tmp_path / "none")
