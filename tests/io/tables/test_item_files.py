"""FASTA files and files with one item on each line."""

import gzip

import numpy as np
import pytest

from mercer.io import DataFileError, read_batches, read_data, read_fasta, read_lines

FASTA = """\
; a comment
>g1 class=promoter length=8
ACGT
AC GT
>g2 class=other length=4

TTTT*
>g3 class=promoter length=0
"""


@pytest.fixture
def genes(tmp_path):
    path = tmp_path / "genes.fasta"
    path.write_text(FASTA)
    return path


@pytest.mark.core
def test_records_of_a_fasta_file(genes):
    records = read_fasta(genes)
    assert records.sequences == ["ACGTACGT", "TTTT", ""]
    assert records.names == ["g1", "g2", "g3"]
    assert records.headers[0] == "g1 class=promoter length=8"
    assert records.labels("class").tolist() == ["promoter", "other", "promoter"]
    assert records.labels("length").tolist() == [8, 4, 0]
    assert records.labels("length").dtype == np.int64
    assert records.labels(r"re:^g(\d)").tolist() == [1, 2, 3]
    assert records.labels("re:o[a-z]+r").tolist() == ["omoter", "other", "omoter"]


@pytest.mark.core
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_compressed_files_and_ends_of_lines(tmp_path, genes, end):
    path = tmp_path / "genes.fa.gz"
    path.write_bytes(gzip.compress(FASTA.replace("\n", end).encode()))
    assert read_fasta(path) == read_fasta(genes).__class__(
        read_fasta(genes).sequences, read_fasta(genes).headers, "genes.fa.gz"
    )


@pytest.mark.core
def test_labels_behind_the_name(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">x|1\nAC\n>y|-1\nGT\n")
    assert read_fasta(path).labels().tolist() == [1, -1]
    path.write_text(">x  yes\nAC\n>y no\nGT\n")
    assert read_fasta(path).labels().tolist() == ["yes", "no"]


@pytest.mark.core
def test_lines_are_items(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("the pump leaks  \n\nthe fan is loud\n")
    assert read_lines(path) == ["the pump leaks", "", "the fan is loud"]
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_lines(tmp_path / "notes.txt.gz") == read_lines(path)
    path.write_bytes("café\n".encode("latin-1"))
    assert read_lines(path, encoding="latin-1") == ["café"]


def test_tables_of_sequences(genes, tmp_path):
    pytest.importorskip("pandas")
    table = read_data(genes, target="class")
    assert table.X["sequence"].tolist() == ["ACGTACGT", "TTTT", ""]
    assert table.y.tolist() == ["promoter", "other", "promoter"]
    assert (table.format, table.target_name, table.categorical) == ("fasta", "class", ("sequence",))
    assert read_data(genes, target=None).y is None
    assert [batch.n_rows for batch in read_batches(genes, batch_rows=2)] == [2, 1]
    labels = tmp_path / "labels.csv"
    labels.write_text("name,label\ng3,0\ng1,1\ng2,0\n")
    assert read_data(genes, target=str(labels)).y.tolist() == [1, 0, 0]
    labels.write_text("a\nb\na\n")
    assert read_data(genes, target=str(labels)).y.tolist() == ["a", "b", "a"]
    unnamed = tmp_path / "genes"
    unnamed.write_text(">x yes\nACGT\n>y no\nGGGG\n")
    assert read_data(unnamed).format == "fasta"
    assert read_data(unnamed).y.tolist() == ["yes", "no"]


def test_tables_of_lines(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "notes.lines"
    path.write_text("oil leaks\nloud fan\n")
    assert read_data(path).y is None
    assert read_data(path).X["text"].tolist() == ["oil leaks", "loud fan"]
    assert read_data(path, features=["text"], target=None).feature_names == ("text",)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("ACGT\n", None, "line 1: a FASTA file begins with '>'"),
        (FASTA, "clas", "Did you mean 'class'"),
        (FASTA, "re:(", "not a regular expression"),
        (FASTA, "re:zebra", "in the header 'g1 class=promoter length=8'"),
        (">a\nAC\n>b kind=1\nGT\n", "kind", "in the header 'a'"),
        (">a\nAC\n>b 1\nGT\n", "last", "there is no label behind the name"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, target, message):
    pytest.importorskip("pandas")
    path = tmp_path / "wrong.fasta"
    path.write_text(text)
    with pytest.raises(DataFileError, match=message):
        read_data(path, target=target)


@pytest.mark.core
def test_what_is_no_text_is_named(tmp_path):
    path = tmp_path / "wrong.fasta"
    path.write_bytes(b">a\nAC\n\xff\xfe\xfdGT\n")
    with pytest.raises(DataFileError, match=r"line 3.* is not"):
        read_fasta(path)


def test_labels_that_do_not_fit(genes, tmp_path):
    pytest.importorskip("pandas")
    labels = tmp_path / "labels.csv"
    labels.write_text("g1,1\ng2,0\n")
    with pytest.raises(DataFileError, match="no line for 'g3'"):
        read_data(genes, target=str(labels))
    labels.write_text("1\n0\n")
    with pytest.raises(DataFileError, match=r"2 labels, genes\.fasta 3 items"):
        read_data(genes, target=str(labels))
    lines = tmp_path / "a.lines"
    lines.write_text("x\ny\n")
    with pytest.raises(DataFileError, match="name a file of labels"):
        read_data(lines, target="class")
