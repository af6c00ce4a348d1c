"""Ways to damage a file, as short lists that Hypothesis can make shorter."""

from hypothesis import strategies as st

OPERATIONS = ("flip", "cut", "delete", "insert", "reverse", "double")


def damaged(content, steps):
    """Return bytes after some steps: (operation, where as a share, a number, bytes)."""
    out = bytearray(content)
    for operation, share, size, extra in steps:
        at = int(share * len(out))
        if operation == "flip" and out:
            out[at % len(out)] ^= 1 << (size % 8)
        elif operation == "cut":
            del out[at:]
        elif operation == "delete":
            del out[at : at + size]
        elif operation == "insert":
            out[at:at] = extra
        elif operation == "reverse":
            out[at : at + size] = bytes(reversed(out[at : at + size]))
        elif operation == "double":
            out[at:at] = out[at : at + size]
    return bytes(out)


TEXTS = [
    b"nan",
    b"-",
    b",",
    b"\n",
    b'"',
    b"1e999",
    b"\0",
    b"\xff\xfe",
    b"?",
    b"1:1",
    b" ",
    b"'",
    b"{",
    b"@data",
    b":",
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(OPERATIONS),
        st.integers(0, 1000).map(lambda k: k / 1001),
        st.integers(1, 60),
        st.sampled_from(TEXTS) | st.binary(min_size=1, max_size=8),
    ),
    max_size=3,
)
