"""svm-scale, byte for byte: the expected texts were written by the svm-scale of LIBSVM's own tools."""

import pytest

from mercer.cli.libsvm import run

pytestmark = pytest.mark.core

DATA = (
    "1 1:0.5 2:-3 4:1e-7\n-1 1:2.25 3:7 4:0.333333333333\n+1 2:1.5 3:-0.125 \n-1 1:2.25 2:0.1\t4:12345678.9\n"
)
OTHER = "2.5 1:9 2:0 5:4\n-1 3:7 4:1\n"
PLAIN = """\
1 1:-0.555556 2:-1 3:-0.964912 4:-1
-1 1:1 2:0.333333 3:1 4:-1
1 1:-1 2:1 3:-1 4:-1
-1 1:1 2:0.377778 3:-0.964912 4:1
""".replace("\n", " \n")  # each line ends with a space
FROM_ZERO = """\
1 1:0.222222 3:0.0175439 4:8.1e-15
-1 1:1 2:0.666667 3:1 4:2.7e-08
1 2:1
-1 1:1 2:0.688889 3:0.0175439 4:1
""".replace("\n", " \n")  # each line ends with a space
WITH_Y = """\
1 1:-0.777778 2:-2 3:-1.90351 4:-2
0 1:3.5 2:1.66667 3:3.5 4:-2
1 1:-2 2:3.5 3:-2 4:-2
0 1:3.5 2:1.78889 3:-1.90351 4:3.5
""".replace("\n", " \n")  # each line ends with a space
RESTORED = "4.25 1:7 2:0.333333 3:-0.964912 4:-1 \n-1 1:-1 2:0.333333 3:1 4:-1 \n"
RANGES = "y\n-1 2\n-1 1\nx\n-1 1\n1 0 2.25\n2 -3 1.5\n3 -0.125 7\n4 0 12345678.9\n"


def nonzeros(before, after):
    return (
        f"WARNING: original #nonzeros {before}\n       > new      #nonzeros {after}\n"
        "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1\n"
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data").write_text(DATA)
    (tmp_path / "other").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "expected", "count"),
    [("", PLAIN, 16), ("-l 0", FROM_ZERO, 12), ("-l -2 -u 3.5 -y 0 1", WITH_Y, 16)],
)
def test_output(flags, expected, count, folder, capsys):
    assert run("svm-scale", [*flags.split(), "data"]) == 0
    streams = capsys.readouterr()
    assert streams.out == expected
    assert streams.err == nonzeros(11, count)


def test_ranges_are_saved_and_restored(folder, capsys):
    assert run("svm-scale", ["-y", "-1", "2", "-s", "ranges", "data"]) == 0
    assert (folder / "ranges").read_text() == RANGES
    capsys.readouterr()
    assert run("svm-scale", ["-r", "ranges", "other"]) == 0
    streams = capsys.readouterr()
    assert streams.out == RESTORED
    assert streams.err == (
        "WARNING: feature index 5 appeared in file other was not seen in the scaling factor file ranges. The "
        "feature is scaled to 0.\n" + nonzeros(5, 8)
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-l", "2", "data"], "inconsistent lower/upper specification"),
        (["-s", "a", "-r", "b", "data"], "cannot use -r and -s simultaneously"),
        (["nowhere"], "can't open file nowhere"),
        (["-r", "nowhere", "data"], "can't open file nowhere"),
        (["-r", "data", "data"], "failed to read scaling parameters"),
        (["bad"], "'oops' is not a number"),
        (["worse"], "failed to read labels"),
    ],
)
def test_mistakes_are_named_and_end_with_1(arguments, words, folder, capsys):
    (folder / "bad").write_text("1 1:oops\n")
    (folder / "worse").write_text("x 1:2\n")
    assert run("svm-scale", arguments) == 1
    assert words in capsys.readouterr().err


def test_usage(capsys):
    assert run("svm-scale", []) == 1
    assert capsys.readouterr().out.startswith("Usage: svm-scale [options] data_filename")
    assert run("svm-scale", ["-q", "data"]) == 1
