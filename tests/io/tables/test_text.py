"""Text as an array: the same answers as bytes give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.gram import Workers
from mercer.io.tables import text as text_module
from mercer.io.tables.text import Text


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60).map(lambda b: bytes(b'\n,a"'[c % 4] for c in b)), st.data())
def test_answers_are_those_of_bytes(content, data):
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, len(content)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "PIECE", data.draw(st.integers(1, 70)))
        text = Text(np.frombuffer(content, dtype=np.uint8))
        assert text.line_ends(start, stop) == content.count(b"\n", start, stop)
        for threads in (1, 3):
            assert text.has({ord('"')}, Workers(threads)) == (b'"' in content)
            assert text.line_ends(start, stop) == content.count(b"\n", start, stop)
        assert text.find(10, start, stop) == content.find(b"\n", start, stop)
        assert text.last_line_end() == content.rfind(b"\n")
        assert text.part(start, stop) == content[start:stop]
        assert len(text) == len(content)


def test_nobody_writes_to_it():
    with pytest.raises(ValueError, match="read-only"):
        Text.of(bytearray(b"1,2")).array[0] = 0
