"""Text files that are not UTF-8 are read when their encoding is named, and told what to name when not."""

import codecs
import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_samples import write

from mercer.io import DataFileError, read_batches, read_data
from mercer.io.tables import delimited_files, file_bytes

GERMAN = "Fläche;Preis €;Straße\r\n81,5;1.204,25;grün\r\n120;99;weiß\r\n64,25;7,5;grün\r\n"
ENCODINGS = ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "iso8859-15", "mac-roman"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_encoding_says_the_same(tmp_path, encoding, packed):
    content = GERMAN.encode(encoding)
    path = write(tmp_path, "t.csv.gz" if packed else "t.csv", gzip.compress(content) if packed else content)
    table = read_data(path, encoding=encoding)
    assert table.feature_names == ("Fläche", "Preis €")
    assert table.y.tolist() == ["grün", "weiß", "grün"]
    np.testing.assert_array_equal(table.X, [[81.5, 1204.25], [120, 99], [64.25, 7.5]])
    assert table.decimal == ","
    assert codecs.lookup(table.encoding).name in (codecs.lookup(encoding).name, "utf-8")
    batches = list(read_batches(path, encoding=encoding, target="last", batch_rows=2))
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in batches]), table.X)
    assert np.concatenate([batch.y for batch in batches]).tolist() == table.y.tolist()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_says_enough(tmp_path, encoding):
    for content in (GERMAN.encode(encoding), codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be")):
        table = read_data(write(tmp_path, "t.csv", content))
        assert table.feature_names == ("Fläche", "Preis €")
        assert table.encoding in ("utf-16", "utf-32")


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (GERMAN.encode("cp1252"), {}, r"is not UTF-8 .*--encoding cp1252"),
        (b"a,b\n1,\xe9t\xe9\n", {}, r"is not UTF-8 .*encoding='cp1252'"),
        (GERMAN.encode("utf-16-le"), {}, "looks like UTF-16: .*--encoding utf-16-le"),
        (GERMAN.encode("utf-16-be"), {}, "looks like UTF-16: .*--encoding utf-16-be"),
        (b"a,b\n1,2\n3,\x81\n", {"encoding": "cp1252"}, r"line 3: b'\\x81' is not cp1252 .*another encoding"),
        (GERMAN.encode("utf-16")[:-1], {}, "line 4: .* is not utf-16 .truncated data"),
        (GERMAN.encode(), {"encoding": "ascii"}, "line 1: .* is not ascii"),
        (
            GERMAN.encode(),
            {"encoding": "klingon"},
            "encoding='klingon' is not a known encoding; use for example 'utf-8'",
        ),
        (GERMAN.encode(), {"encoding": "rot13"}, "encoding='rot13' is not a known encoding"),
        (GERMAN.encode(), {"encoding": "a\0b"}, "is not a known encoding"),
        (GERMAN.encode(), {"encoding": None}, "encoding=None is not a known encoding"),
        (b"a,b\n1,2\n", {"encoding": "utf-16"}, "t.csv is not utf-16 .*another encoding"),
        (b"a,b\n1,\0\n", {}, "zero bytes: it is not a text file"),
        ("a,b\n1,\0\n".encode("utf-16"), {}, "zero bytes: it is not a text file"),
        (b"\xff\xfe" + b"\x00\xd8" * 9, {}, "is not utf-16"),
    ],
)
def test_what_is_wrong_is_told_with_the_way_out(tmp_path, content, options, words):
    path = write(tmp_path, "t.csv", content)
    with pytest.raises(DataFileError, match=words):
        read_data(path, **options)
    with pytest.raises(DataFileError, match=words):
        list(read_batches(path, **options))


def test_lines_are_counted_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_files, "BLOCK", 64)
    monkeypatch.setattr(file_bytes, "PIECE", 64)
    monkeypatch.setattr(file_bytes, "HEAD", 64)
    for encoding in ("utf-16", "shift_jis"):
        good = ("a,b\n" + "1,é\n" * 100).replace("é", "e" if encoding != "utf-16" else "é").encode(encoding)
        bad = b"\x00\xd8\x00\xd8" if encoding == "utf-16" else b"\x81\n"
        path = write(tmp_path, "t.csv", good + bad)
        with pytest.raises(DataFileError, match="line 102: "):
            list(read_batches(path, encoding=encoding))


def test_other_text_formats(tmp_path):
    arff = "@relation r\n@attribute Größe numeric\n@attribute Art {süß,herb}\n@data\n1,süß\n2,herb\n"
    for content, options in (
        (arff.encode("cp1252"), {"encoding": "cp1252"}),
        (arff.encode("utf-16"), {}),
        (arff.encode("utf-8-sig"), {}),
    ):
        table = read_data(write(tmp_path, "t.arff", content), **options)
        assert (table.feature_names, table.y.tolist()) == (("Größe",), ["süß", "herb"])
        nameless = read_data(write(tmp_path, "t.data", content), **options)  # told by what it holds
        assert nameless.format == "arff"
    with pytest.raises(DataFileError, match=r"is not UTF-8 .*encoding='cp1252'"):
        read_data(write(tmp_path, "t.arff", arff.encode("cp1252")))
    table = read_data(write(tmp_path, "t.data", "1 1:2.5 3:1\n-1 2:4\n".encode("utf-16")))
    assert (table.format, table.X.shape, table.y.tolist()) == ("svmlight", (2, 3), [1, -1])


def test_binary_files_have_no_encoding(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0, 1, 1])
    assert read_data(tmp_path / "t.npz", encoding="cp1252").X.shape == (3, 3)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_text_may_be_cut_anywhere(tmp_path_factory, data):
    letters = st.characters(blacklist_characters=',;|\t\r\n"\0 ', blacklist_categories=("Cs", "Z", "C"))
    encoding = data.draw(st.sampled_from(["utf-16", "utf-32-be", "gb18030", "utf-8"]))
    words = data.draw(st.lists(st.text(letters, min_size=1, max_size=6), min_size=2, max_size=30))
    text = "name,value\n" + "".join(f"w{word},{k}.5\n" for k, word in enumerate(words))
    path = write(tmp_path_factory.mktemp("t"), "t.csv", text.encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_files, "BLOCK", data.draw(st.integers(1, 50)))
        patch.setattr(file_bytes, "PIECE", data.draw(st.integers(1, 50)))
        patch.setattr(file_bytes, "HEAD", 64)
        batches = list(read_batches(path, target="name", encoding=encoding, decimal="."))
    assert np.concatenate([batch.y for batch in batches]).tolist() == [f"w{word}" for word in words]
    assert np.concatenate([batch.X for batch in batches]).ravel().tolist() == [
        k + 0.5 for k in range(len(words))
    ]


def test_batches_of_recoded_text_take_constant_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_files, "BLOCK", 1 << 14)
    monkeypatch.setattr(file_bytes, "PIECE", 1 << 14)
    peaks = []
    for rows in (2_000, 40_000):
        path = write(tmp_path, "t.csv", ("a,b,é\n" + "1.5,2.25,3\n" * rows).encode("utf-16"))
        sum(batch.n_rows for batch in read_batches(path, batch_rows=500, n_jobs=1))  # compiled by now
        tracemalloc.start()
        assert sum(batch.n_rows for batch in read_batches(path, batch_rows=500, n_jobs=1)) == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
