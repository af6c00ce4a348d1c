"""Large tables of numbers, read block by block: the same as the file read as a whole."""

import os
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_samples import write

from mercer.gram import Workers
from mercer.io import DataFileError, read_data
from mercer.io.tables import blocks
from mercer.io.tables.delimited import DelimitedReader, sniff
from mercer.io.tables.file_bytes import Limits, Source


def in_blocks(path, size, threads=3, target=None):
    """Read a file in blocks of a size; None if it must be read as a whole."""
    with pytest.MonkeyPatch.context() as patch, Source(path, Limits(1 << 30)) as source:
        patch.setattr(blocks, "BLOCK", size)
        dialect = sniff(source.head, None, "auto", source.name)
        reader = DelimitedReader(dialect, source.name, Workers(threads), None, target)
        return blocks.read_in_blocks(source, reader)


CELLS = st.sampled_from(["1", "-2.5", "", "NA", "1e-320", "123456789012345678901234", " 7 ", "inf", "0.1"])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_numbers_in_any_blocks_are_those_of_the_whole(tmp_path_factory, data):
    columns = data.draw(st.integers(2, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=2, max_size=40))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    lines = [",".join("abcd"[:columns]), *(",".join(row) for row in rows)]
    text = end.join(lines) + data.draw(st.sampled_from(["", end]))
    path = write(tmp_path_factory.mktemp("t"), "t.csv", data.draw(st.sampled_from(["", "\ufeff"])) + text)
    target = data.draw(st.sampled_from([None, "first", "last", "b"]))
    found = in_blocks(path, data.draw(st.integers(1, 400)), data.draw(st.integers(1, 4)), target)
    whole = read_data(path, target=None)
    if found is not None:
        assert tuple(found.names) == whole.feature_names
        assert (found.apart is None) == (target is None)
        for k in range(columns):
            np.testing.assert_array_equal(found.column(k), whole.X[:, k])
        np.testing.assert_array_equal(found.together(list(range(columns))[::-1]), whole.X[:, ::-1])
        kept = [k for k in range(columns) if found.apart is None or k != found.apart[0]]
        np.testing.assert_array_equal(found.together(kept), whole.X[:, kept])
    longest = max(map(len, text.split("\n"))) + 4
    many = in_blocks(path, longest, 2)
    if path.stat().st_size >= 2 * longest:
        np.testing.assert_array_equal(many.values, whole.X)
    else:
        assert many is None


def table(rows, last="3"):
    return "a,b,c\n" + "".join(f"{k},0.5,2\n" for k in range(rows)) + f"1,2,{last}"


@pytest.mark.parametrize(
    "text",
    [
        table(100, '"3"'),
        table(100, "red"),
        table(100, "3,4"),
        table(100, "\xff"),
        table(100) + "\n" + "1" * 300 + ",2,3\n",
        "\0" * 300,
        "\n" * 300,
        "a,b,c\n" + "\n" * 300,
    ],
    ids=["quotes", "text", "cells", "no ASCII", "a long row", "zeros", "no names", "no rows"],
)
def test_what_is_no_plain_table_is_left_to_others(tmp_path, text):
    path = write(tmp_path, "t.csv", text.encode("latin-1"))
    for threads in (1, 3):
        assert in_blocks(path, 128, threads) is None
    assert in_blocks(write(tmp_path, "t.csv", table(100)), 128) is not None


@pytest.mark.parametrize("separator", [" ", ","])
def test_blank_lines_first_and_between(tmp_path, monkeypatch, separator):
    lines = [
        "",
        " ",
        "\r",
        "a b c".replace(" ", separator),
        *(f"{k} 2 3".replace(" ", separator) for k in range(300)),
    ]
    path = write(tmp_path, "t.csv", "\n \t\r\n".join(lines))
    monkeypatch.setattr(blocks, "BLOCK", 64)
    for threads in (1, 2, 5):
        found = read_data(path, target="a", separator=separator, n_jobs=threads)
        assert found.y.tolist() == list(range(300))
        assert found.feature_names == ("b", "c")
    np.testing.assert_array_equal(in_blocks(path, 64).column(0), np.arange(300.0))


def test_nothing_but_blanks_is_told_by_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 16)
    path = write(tmp_path, "t.csv", " \r\n" * 100)
    for threads in (1, 3):
        with pytest.raises(DataFileError, match="has no rows"):
            read_data(path, separator=" ", n_jobs=threads)


def test_mistakes_far_into_the_file_have_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 256)
    path = write(tmp_path, "t.csv", table(500, "3,4"))
    for threads in (1, 2, 4):
        with pytest.raises(DataFileError, match="line 502: 4 cells"):
            read_data(path, n_jobs=threads)
    path = write(tmp_path, "t.csv", table(500, "red"))
    assert read_data(path).y.tolist() == ["2"] * 500 + ["red"]


@pytest.mark.parametrize("shrinks", [True, False])
def test_rows_may_become_shorter_or_longer(tmp_path, shrinks):
    long, short = ["0.12345678901234567,1.5"] * 100, ["1,2"] * 300
    lines = ["a,b", *(long + short if shrinks else short + long)]
    path = write(tmp_path, "t.csv", "\n".join(lines))
    want = [[float(c) for c in line.split(",")] for line in lines[1:]]
    np.testing.assert_array_equal(in_blocks(path, 200).values, want)
    found = in_blocks(path, 200, target="a")
    np.testing.assert_array_equal(np.column_stack([found.column(0), found.values]), want)


def test_the_target_and_the_features_are_the_wished_ones(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv", table(500))
    whole = read_data(path, target=None).X
    monkeypatch.setattr(blocks, "BLOCK", 256)
    for target, features in (("b", None), ("last", ["b"]), (0, ["c", "a"]), ("c", ["c", "a", "b"])):
        found = read_data(path, target=target, features=features)
        k = {"b": 1, "last": 2, 0: 0, "c": 2}[target]
        chosen = [j for j in range(3) if j != k] if features is None else ["abc".index(f) for f in features]
        np.testing.assert_array_equal(found.y, whole[:, k])
        np.testing.assert_array_equal(found.X, whole[:, chosen])
        assert found.X.flags.c_contiguous
    with pytest.raises(DataFileError, match="has no such column; its columns are 'a', 'b', 'c'"):
        read_data(path, target="d")


def test_a_file_that_shrinks_is_named_and_no_thread_waits_for_ever(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv", table(5000))
    with Source(path, Limits(1 << 30)) as source:
        size = source.plain_size()
        monkeypatch.setattr(Source, "plain_size", lambda _: size)
        monkeypatch.setattr(blocks, "BLOCK", 1 << 10)
        os.truncate(path, size // 2)
        reader = DelimitedReader(sniff(source.head, None, "auto", "t.csv"), "t.csv", Workers(4), None)
        with pytest.raises(DataFileError, match=r"t\.csv became shorter while it was read"):
            blocks.read_in_blocks(source, reader)


def test_blocks_that_are_ready_early_wait_for_their_turn(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv", table(2000))
    ready = threading.Event()
    place = blocks._Rows._place

    def late(self, k, values, length):
        if k == 0:
            assert ready.wait(20)  # until another block stands in line
        else:
            ready.set()
        place(self, k, values, length)

    monkeypatch.setattr(blocks._Rows, "_place", late)
    want = [[k, 0.5, 2] for k in range(2000)] + [[1, 2, 3]]
    np.testing.assert_array_equal(in_blocks(path, 1000).values, want)


def test_the_text_is_never_held_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 1 << 14)
    line = "1.23456789012345,2.34567890123456,3.45678901234567\n"
    path: Path = write(tmp_path, "t.csv", line * 100)
    read_data(path, n_jobs=2)  # compiled before memory is looked at
    write(tmp_path, "t.csv", line * 40_000)
    tracemalloc.start()
    found = read_data(path, target=None, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.X.shape == (40_000, 3)
    assert peak < 1.05 * found.X.nbytes + 64 * blocks.BLOCK
    assert path.stat().st_size > 64 * blocks.BLOCK
