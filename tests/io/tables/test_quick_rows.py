"""What the quick readers of rows say is what the careful one says, to the last bit, or they are not used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.io import DataFileError
from mercer.io.tables import arrow_rows, number_rows
from mercer.io.tables.delimited import DelimitedReader
from mercer.io.tables.dialect import NUMBER, Dialect

pytest.importorskip("pyarrow")

PIECES = [
    "1", "-0", "+2", "-2.5", ".5", "7.", "1e5", "1E-320", "1e400", "0.1", "1234567890123456789012345",
    "1_0", "", "NA", "nan", "-nan", "NAN", "-NaN", "nan(1)", "?", "None", "inf", "-Inf", "iNF",
    "infinity", "INFINITY", "red", "blue sky", "ä", "٣", "0x10", "1f", "true", "2020-01-01", "1,5",
    "1;5", "a\tb", " ", "\t", "\r", '"', '""', '"1"', '"red"', '"a,b"', '" 1"', '"1 "', '"1"5', '""x',
    'x"', '"a""b"', '"a\nb"', "'", "'a'", "\x0b", "\xa01", "\x00", "#",
]  # fmt: skip
CELL = st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map("".join) | st.floats().map(repr)


def reading(text, dialect, quick=(), categorical=None, threads=2):
    """Return everything that a reader says of a text, with the help of some quick readers."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (arrow_rows, number_rows):
            patch.setattr(module, "LEAST", 1 if module in quick else 1 << 40)
            patch.setattr(module, "LEAST_ALONE", 1 if module in quick else 1 << 40)
        reader = DelimitedReader(dialect, "t.csv", threads, categorical)
        try:
            columns, rest = reader.read(text)
        except DataFileError as error:
            return str(error)
        if columns is None:
            return rest, None
        text_cells = {k: cells.tolist() for k, cells in columns.text.items()}
        return rest, columns.names, columns.values.view(np.int64).tolist(), text_cells, columns.nameless


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_both_readers_say_the_same(data):
    width = data.draw(st.integers(1, 3))
    separator = data.draw(st.sampled_from([",", ";", "\t", "|", " "]))
    usual = data.draw(st.lists(CELL, min_size=1, max_size=4))
    cell = st.sampled_from(usual) if data.draw(st.booleans()) else CELL
    rows = data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=8))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r"]))
    text = end.join(separator.join(row) for row in [["a", "b", "c"][:width], *rows])
    text += data.draw(st.sampled_from(["", end]))
    quote = data.draw(st.sampled_from(['"', "'\""]))
    categorical = data.draw(st.sampled_from([None, ["a"], []]))
    dialect = Dialect(separator, header=True, quote=quote)
    careful = reading(text.encode(), dialect, (), categorical)
    assert reading(text.encode(), dialect, (arrow_rows,), categorical) == careful
    threads = data.draw(st.integers(1, 3))
    assert reading(text.encode(), dialect, (number_rows,), categorical, threads) == careful


NUMBERS = st.sampled_from([p for p in PIECES if (NUMBER.fullmatch(p) and "i" not in p.lower()) or not p])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_numbers_are_read_by_the_loop(data):
    width = data.draw(st.integers(1, 4))
    cell = NUMBERS | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    rows = data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=20))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r\n\r\n"]))
    text = end.join(",".join(row) for row in rows) + data.draw(st.sampled_from(["", end]))
    block = b"skipped\n" + text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_rows, "LEAST", 1)
        patch.setattr(number_rows, "LEAST_ALONE", 1)
        threads = data.draw(st.integers(1, 3))
        found = number_rows.read_numbers(block, slice(8, len(block)), ",", width, threads)
    names = tuple(f"x{k}" for k in range(width))
    careful = reading(text.encode(), Dialect(header=False, names=names))
    if found is not None:
        assert found.view(np.int64).tolist() == careful[2]
    else:  # none of its own, or some for Python: 1e400, subnormal ones, those with more than 19 digits
        values = [(c, abs(float(c))) for row in rows for c in row if c]
        hard = any(len(c) > 19 or (v > 0 and not 1e-307 < v < 1e308) or not c.isascii() for c, v in values)
        assert hard or careful[1] is None


def is_used(text, dialect=None):
    dialect = dialect or Dialect()
    width = text.split(b"\n")[0].count(b",") + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_rows, "LEAST", 1)
        patch.setattr(arrow_rows, "LEAST_ALONE", 1)
        return arrow_rows.read_rows(text, slice(0, len(text)), dialect, width, {0}, 1) is not None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_usual_files_are_read_by_pyarrow(end):
    for line in ("red,1,2.5", "red,,NA", '"red",1,"2"', ",1,2", "blue sky,1e-5,-0", "ä,.5,1."):
        assert is_used(end.join([line] * 5).encode())
        assert is_used((end.join([line] * 5) + end).encode())


@pytest.mark.parametrize(
    "line",
    [
        " red,1", "red ,1", "red,inf", "red,NAN", "red,1e400", "red,x", "red,1,2\nred,1", '"red"x,1',
        '"a,b",1', '"a\nb",1', '"a""b",1', 'a",1', '" a",1', "red\0,1", "red\rblue,1", "red,\xff",
    ],
)  # fmt: skip
def test_what_may_be_read_differently_is_left_to_us(line):
    assert not is_used(f"{line}\nred,1\n".encode("latin-1"))
    assert is_used(b"red,1\nred,1\n")


def test_rows_longer_than_its_block_are_left_to_us(monkeypatch):
    monkeypatch.setattr(arrow_rows, "BLOCK", 64)
    assert not is_used(b"red," + b"1" * 300 + b"\nred,1\n")
    assert is_used(b"red,1\n" * 100)


@pytest.mark.parametrize("separator", ["x", ":", " "])
def test_unusual_separators_are_left_to_us(separator):
    assert not is_used(f"red{separator}1\n".encode(), Dialect(separator))


def test_without_pyarrow_we_read_everything(monkeypatch):
    monkeypatch.setattr(arrow_rows.importlib.util, "find_spec", lambda name: None)
    assert not is_used(b"red,1\n")
    text = b"a,b\nred,1\nblue,\n"
    _, names, _, words, _ = reading(text, Dialect(), (arrow_rows,))
    assert (names, words) == (["a", "b"], {0: ["red", "blue"]})
