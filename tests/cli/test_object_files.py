"""The command on graphs, time series and trees."""

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

import pandas

import mercer
from mercer import kernels
from mercer.cli import options as o
from mercer.cli.item_columns import CLASSES

N = 40


@pytest.fixture
def files(tmp_path):
    """Write graphs, time series and trees of two kinds; return which are of the second."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 2
    edges, owner, labels, first = [], [], [], 1
    for g in range(N):
        n = int(rng.integers(4, 8))
        pairs = [(k, int(rng.integers(0, k))) for k in range(1, n)]
        edges += [f"{first + a}, {first + b}" for u, v in pairs for a, b in ((u, v), (v, u))]
        owner += [str(g + 1)] * n
        labels += ["1"] * (n - 1) + ["2" if kind[g] else "3"]
        first += n
    folder = tmp_path / "molecules"
    folder.mkdir()
    for name, lines in (
        ("A", edges), ("graph_indicator", owner), ("node_labels", labels), ("graph_labels", kind.astype(str)),
    ):  # fmt: skip
        (folder / f"M_{name}.txt").write_text("\n".join(lines) + "\n")
    waves = [np.sin((1 + k) * np.linspace(0, 6, 25)) + 0.1 * rng.normal(size=25) for k in kind]
    words = [",".join(f"{v:.3f}" for v in wave[: 25 - i % 3]) for i, wave in enumerate(waves)]
    header = (
        "#waves\n@problemName Waves\n@timeStamps false\n@univariate true\n@classLabel true slow fast\n@data\n"
    )
    lines = [f"{text}:{'fast' if k else 'slow'}\n" for text, k in zip(words, kind, strict=True)]
    (tmp_path / "waves.ts").write_text(header + "".join(lines))
    rows = [",".join(f"{v:.3f}" for v in wave) for wave in waves]
    names = ",".join(f"t{k}" for k in range(25))
    cells = [f"{row},{'fast' if k else 'slow'}\n" for row, k in zip(rows, kind, strict=True)]
    (tmp_path / "waves.csv").write_text(f"{names},speed\n" + "".join(cells))
    nouns = rng.choice(["cat", "dog", "cow"], size=N)
    trees = [
        f"(S (NP (D {'the' if k else 'a'}) (N {noun})) (VP runs))"
        for k, noun in zip(kind, nouns, strict=True)
    ]
    table = [f'"{tree} ",{k}\n' for tree, k in zip(trees, kind, strict=True)]
    (tmp_path / "trees.csv").write_text("tree,definite\n" + "".join(table))
    return kind


def test_kernels_of_the_command_are_those_of_the_library():
    known = {name: getattr(kernels, name) for name in kernels.__all__}
    for room, names in (
        (".trees.", o.TREE_KERNELS),
        (".graphs.", o.GRAPH_KERNELS),
        (".series.", o.SERIES_KERNELS),
    ):
        classes = {name for name, one in known.items() if room in getattr(one, "__module__", "")} - {
            "Diffusion"
        }
        spelled = {CLASSES.get(n) or "".join(part.capitalize() for part in n.split("_")) for n in names}
        assert spelled == classes


CASES = [
    (["molecules", "--kernel", "weisfeiler_lehman", "--h", "2"], "WeisfeilerLehman(h=2", "molecules"),
    (["molecules", "--kernel", "wl_optimal_assignment"], "WLOptimalAssignment(h=", "molecules"),
    (["waves.ts", "--triangular", "8"], "GlobalAlignment(sigma=", "waves.ts"),
    (["waves.ts", "--kernel", "signature", "--level", "2"], "Signature(level=2", "waves.ts"),
    (
        ["waves.csv", "--target", "speed", "--kernel", "global_alignment", "--sigma", "2"],
        "sigma=2.0",
        "waves.csv",
    ),
    (
        ["trees.csv", "--target", "definite", "--kernel", "subset_tree", "--decay", "0.3"],
        "decay=0.3",
        "trees.csv",
    ),
]


@pytest.mark.parametrize(("words", "kernel", "data"), CASES, ids=[" ".join(c[0][:3]) for c in CASES])
def test_train_predict_and_verify(files, mercer_command, words, kernel, data):
    done = mercer_command("train", *words, "--folds", "0", "-o", "model.mercer", "--json")
    assert done.code == 0, done.err
    assert kernel in done.json["kernel"]
    assert done.json["held_out"]["accuracy"] >= 0.7
    target = words[words.index("--target") + 1] if "--target" in words else "last"
    said = mercer_command("predict", "model.mercer", data, "--target", target)
    assert said.code == 0, said.err
    assert len(said.out.split()) == N + 1
    assert mercer_command("show", "model.mercer").code == 0
    verified = mercer_command("verify", "model.mercer", data, "--target", target)
    assert verified.code == 0, verified.err
    assert "it holds" in verified.out


def test_report_and_search(files, mercer_command, tmp_path):
    done = mercer_command(
        "train", "molecules", "--search", "--folds", "3", "--report", "page.html", "-o", "m.mercer", "--json"
    )
    assert done.code == 0, done.err
    assert "WeisfeilerLehman" in (tmp_path / "page.html").read_text()
    model = mercer.load(tmp_path / "m.mercer")
    graphs = mercer.io.read_graphs(tmp_path / "molecules")
    cells = np.empty(N, dtype=object)
    cells[:] = graphs.X
    assert model.score(pandas.DataFrame({"graph": cells}), graphs.y) >= 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["molecules", "--kernel", "spectrum"], "--kernel spectrum does not compare graphs"),
        (["molecules", "--sigma", "1"], "--sigma is no parameter of weisfeiler_lehman"),
        (["molecules", "--target", "mass"], "target='mass'"),
        (["waves.ts", "--kernel", "shortest_path"], "does not compare time series"),
        (["trees.csv", "--kernel", "dtw"], "compares time series, a row of numbers each"),
        (["waves.csv", "--kernel", "graphlets"], "is not a folder of graphs"),
        (["waves.csv", "--h", "2"], "--h is for kernels of sequences, trees, graphs or time series"),
        (["waves.ts", "--sigma", "0"], "sigma=0"),
    ],
)
def test_what_is_wrong_is_named(files, mercer_command, words, message):
    done = mercer_command("train", *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
