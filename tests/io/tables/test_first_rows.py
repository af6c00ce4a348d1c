"""A first row that is none is refused in our own words: the file, the line, what to do."""

import csv

import pytest

from mercer.io import read_batches, read_data
from mercer.io.errors import DataFileError
from mercer.io.tables.row_cells import split

pytestmark = pytest.mark.core

CASES = {
    "carriage returns": (
        b"a,b\rc,d\r1,2\r",
        r"junk.csv, line 1: a carriage return stands amid the row: save the file with a line feed",
    ),
    "a cell without an end": (
        b"\n\n" + b"x" * 200_000 + b"\n1\n",
        r"junk.csv, line 3: a cell has more than 131072 characters where ',' separates cells: name another",
    ),
    "an open quote": (b'a,"b\n1,2\n', r"junk.csv, line 1: a quote is opened here and never closed"),
}


@pytest.mark.parametrize("header", ["auto", True])
@pytest.mark.parametrize("name", list(CASES))
def test_the_message_names_file_line_and_remedy(name, header, tmp_path):
    content, words = CASES[name]
    path = tmp_path / "junk.csv"
    path.write_bytes(content)
    for read in (read_data, lambda *a, **k: list(read_batches(*a, **k))):
        with pytest.raises(DataFileError, match=words) as refusal:
            read(path, format="csv", header=header)
        text = str(refusal.value)
        assert "field" not in text
        assert "new-line character" not in text


def test_no_other_phrase_of_the_parser_gets_through(monkeypatch):
    def reader(*arguments, **options):
        raise csv.Error("raw phrase")

    monkeypatch.setattr(csv, "reader", reader)
    with pytest.raises(DataFileError, match=r"it.csv, line 7: the quotes of 'a' are in disorder") as refusal:
        split("a", ",", "it.csv", 7)
    assert "raw phrase" not in str(refusal.value)


def test_quotes_that_open_nothing_and_cells_of_two_lines_are_fine(tmp_path):
    path = tmp_path / "fine.csv"
    path.write_text('size 5",b\n1,2\n')
    assert list(read_data(path, target=None).feature_names) == ['size 5"', "b"]
    path.write_text('1,2,"two\nlines"\n3,4,one\n')
    for table in (read_data(path, header=False), *read_batches(path, header=False, target="last")):
        assert table.n_rows == 2
