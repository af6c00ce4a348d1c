"""The command on files of sequences."""

import gzip

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

import mercer
from mercer import kernels
from mercer.cli import options as o


@pytest.fixture
def genes(tmp_path):
    """Write sequences with one of two motifs, in all formats; return the labels."""
    rng = np.random.default_rng(0)
    lines, labels = [], []
    for i in range(60):
        letters = rng.choice(list("ACGT"), size=40)
        place = rng.integers(0, 32)
        letters[place : place + 8] = list("TATAATCC" if i % 2 else "TTGACAGG")
        lines.append("".join(letters))
        labels.append("tata" if i % 2 else "box")
    names = [f"g{i}" for i in range(60)]
    fasta = "".join(f">{n} class={c}\n{s}\n" for n, c, s in zip(names, labels, lines, strict=True))
    (tmp_path / "genes.fasta").write_text(fasta)
    (tmp_path / "more.fa.gz").write_bytes(gzip.compress(fasta.encode()))
    rows = "".join(f"{i},{s},{c}\n" for i, (s, c) in enumerate(zip(lines, labels, strict=True)))
    (tmp_path / "genes.csv").write_text("age,sequence,class\n" + rows)
    (tmp_path / "genes.lines").write_text("\n".join(lines) + "\n")
    (tmp_path / "kinds.txt").write_text("\n".join(labels) + "\n")
    return np.array(labels)


def test_kernels_on_sequences_are_those_of_the_library():
    known = {name: getattr(kernels, name) for name in kernels.__all__}
    classes = {name for name, one in known.items() if ".strings." in getattr(one, "__module__", "")}
    assert {"".join(part.capitalize() for part in name.split("_")) for name in o.SEQUENCE_KERNELS} == classes


def test_train_predict_evaluate_verify_and_report(genes, mercer_command, tmp_path):
    done = mercer_command(
        "train", "genes.fasta", "--target", "class", "--kernel", "spectrum", "--k", "4", "--folds", "3",
        "--report", "page.html", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["kernel"] == "Spectrum(k=4).normalized().on('sequence')"
    assert done.json["held_out"]["accuracy"] > 0.9
    assert "spectrum" in (tmp_path / "page.html").read_text().lower()
    said = mercer_command("predict", "genes.mercer", "more.fa.gz").out.split()
    assert said[0] == "prediction"
    assert np.mean(np.array(said[1:]) == genes) > 0.95
    assert mercer_command("evaluate", "genes.mercer", "more.fa.gz", "--target", "class").code == 0
    verified = mercer_command("verify", "genes.mercer", "genes.fasta", "--target", "class")
    assert verified.code == 0, verified.err
    assert "it holds" in verified.out
    assert "Spectrum(k=4)" in mercer_command("show", "genes.mercer").out
    model = mercer.load(tmp_path / "genes.mercer")
    assert isinstance(model[-1].support_vectors_.columns[0][0], str)


def test_other_files_and_kernels(genes, mercer_command):
    done = mercer_command("train", "genes.csv", "--kernel", "mismatch", "--k", "4", "--folds", "0", "--json")
    assert done.code == 0, done.err
    assert done.json["preparation"] == ["left out 'age': the kernel compares 'sequence' only"]
    done = mercer_command(
        "train", "genes.lines", "--target", "kinds.txt", "--kernel", "subsequence", "--length", "2",
        "--decay", "0.5", "--folds", "0", "--json", "-o", "lines.mercer",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["kernel"].startswith("Subsequence(length=2, decay=0.5,")
    done = mercer_command("train", "genes.fasta", "--target", "re:class=(.*)", "--folds", "0", "--force")
    assert done.code == 0, done.err
    assert "kernel spectrum, as rbf compares numbers" in done.out + done.err


def test_a_search_for_sequences(genes, mercer_command):
    done = mercer_command(
        "train", "genes.fasta", "--target", "class", "--kernel", "spectrum", "--search", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["held_out"]["accuracy"] > 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["genes.fasta", "--target", "clas"], "Did you mean 'class'"),
        (
            ["genes.fasta", "--target", "class", "--kernel", "spectrum", "--m", "1"],
            "no parameter of spectrum",
        ),
        (["genes.fasta", "--target", "class", "--kernel", "spectrum", "--k", "0"], "k=0"),
        (["genes.fasta", "--target", "class", "--kernel", "spectrm"], "Did you mean 'spectrum'"),
        (["iris", "--kernel", "spectrum"], "has no column of text"),
        (["iris", "--k", "3"], "--k is for kernels of sequences"),
    ],
)
def test_what_is_wrong_is_named(genes, mercer_command, words, message):
    done = mercer_command("train", *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
