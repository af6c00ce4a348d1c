"""svm-train and svm-predict against LIBSVM's own, on all types and kernels."""

import ctypes
import re
from itertools import combinations

import numpy as np
import pytest

from mercer.cli.libsvm import run
from mercer.io.libsvm.model_text import parse_libsvm_model
from mercer.problems.libsvm_probabilities import density_marks

svmutil = pytest.importorskip("libsvm.svmutil")

KERNEL_FLAGS = {
    0: "-t 0",
    1: "-t 1 -d 2 -g 0.3 -r 1",
    2: "-t 2 -g 0.3",
    3: "-t 3 -g 0.02",  # small enough to be positive semi-definite, but for a hair
    4: "-t 4",
}
TYPE_FLAGS = {
    0: "-s 0 -c 2",
    1: "-s 1 -n 0.4",
    2: "-s 2 -n 0.3",
    3: "-s 3 -c 2 -p 0.05",
    4: "-s 4 -n 0.4 -c 2",
}


def kernel_matrix(t, X):
    if t == 0:
        return X @ X.T
    if t == 1:
        return (0.3 * X @ X.T + 1.0) ** 2
    if t == 3:
        return np.tanh(0.02 * X @ X.T)
    return np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


class Problem:
    """Data in LIBSVM's format in a folder, and both libraries' tools for them."""

    def __init__(self, folder, s, t, classes=2, n=60):
        rng = np.random.default_rng(7)
        self.s, self.t, self.folder = s, t, folder
        # A few digits only: LIBSVM's files keep 8 of them.
        self.X = np.round(rng.normal(size=(n, 3)) + 1.0, 4)
        slope = self.X @ [1.0, 0.5, -0.5] + 0.4 * rng.normal(size=n)
        if s >= 2:
            self.y = np.round(np.sin(slope), 4)
        elif classes == 2:
            self.y = np.where(slope > 1.0, 1, -1)
        else:
            self.y = np.digitize(slope, np.quantile(slope, [0.4, 0.7])) + 5
        self.K = kernel_matrix(t, self.X)
        self.data = folder / "data"
        rows = self.K if t == 4 else self.X
        with self.data.open("w") as file:
            for i, (row, y) in enumerate(zip(rows, self.y, strict=True)):
                serial = f"0:{i + 1} " if t == 4 else ""
                file.write(
                    f"{y:g} {serial}" + " ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(row)) + "\n"
                )

    def train(self, flags, name):
        model = self.folder / name
        assert run("svm-train", [*flags.split(), str(self.data), str(model)]) == 0
        return model

    def train_libsvm(self, flags, name):
        y, x = svmutil.svm_read_problem(str(self.data))
        model = svmutil.svm_train(y, x, flags + " -q")
        svmutil.svm_save_model(str(self.folder / name), model)
        return self.folder / name

    def predict(self, model, flags=""):
        target = self.folder / "out"
        assert run("svm-predict", [*flags.split(), str(self.data), str(model), str(target)]) == 0
        return target.read_text().splitlines()

    def decide_libsvm(self, path):
        """Return labels and decisions; svmutil's own function writes beyond its buffer for nu-SVC."""
        model = svmutil.svm_load_model(str(path))
        _, x = svmutil.svm_read_problem(str(self.data))
        pairs = model.nr_class * (model.nr_class - 1) // 2
        labels, decisions = np.empty(len(x)), np.empty((len(x), pairs))
        for k, row in enumerate(x):
            node, _ = svmutil.gen_svm_nodearray(row, isKernel=self.t == 4)
            found = (ctypes.c_double * pairs)()
            labels[k] = svmutil.libsvm.svm_predict_values(model, node, found)
            decisions[k] = found[:]
        return labels, decisions

    def predict_libsvm(self, model, flags=""):
        y, x = svmutil.svm_read_problem(str(self.data))
        return svmutil.svm_predict(y, x, svmutil.svm_load_model(str(model)), flags + " -q")

    def objective(self, path):
        """Return the objectives of a model file's coefficients, one for each pair.

        A nu-SVC is stored with margin 1; its own dual has multipliers up to 1.
        """
        stored = parse_libsvm_model(path.read_bytes())
        if self.t == 4:
            rows = stored.vectors - 1
        else:
            V = np.zeros((stored.vectors.shape[0], 3))
            V[:, : stored.vectors.shape[1]] = stored.vectors.toarray()
            distance = ((self.X[None] - V[:, None]) ** 2).sum(axis=2)
            rows = distance.argmin(axis=1)
            assert distance.min(axis=1).max() < 1e-12
        K = self.K[np.ix_(rows, rows)]
        if stored.labels is None:
            b = stored.coef[0]
            value = 0.5 * b @ K @ b
            if self.s >= 3:
                value -= self.y[rows] @ b - (0.05 * np.abs(b).sum() if self.s == 3 else 0.0)
            return [value]
        ends = np.concatenate([[0], np.cumsum(stored.n_support)])
        out = []
        for i, j in combinations(range(len(stored.labels)), 2):
            b = np.zeros(len(rows))
            b[ends[i] : ends[i + 1]] = stored.coef[j - 1, ends[i] : ends[i + 1]]
            b[ends[j] : ends[j + 1]] = stored.coef[i, ends[j] : ends[j + 1]]
            b = b if self.s == 0 else b / np.abs(b).max()
            out.append(0.5 * b @ K @ b - (np.abs(b).sum() if self.s == 0 else 0.0))
        return out


def sure_rows(decisions, eps):
    """Return where decisions are beyond the tolerance, and beyond the single precision of LIBSVM's own."""
    return np.abs(decisions).min(axis=1) > 10 * float(eps) + 1e-6 * np.abs(decisions).max()


@pytest.mark.parametrize(("eps", "close"), [("1e-3", 1e-2), ("1e-8", 1e-6)])
@pytest.mark.parametrize("t", range(5))
@pytest.mark.parametrize("s", range(5))
def test_objectives_files_and_labels_agree(s, t, eps, close, tmp_path, capsys):
    problem = Problem(tmp_path, s, t, classes=3 if t == 2 else 2)
    flags = f"{TYPE_FLAGS[s]} {KERNEL_FLAGS[t]} -e {eps}"
    ours, theirs = problem.train(flags, "ours"), problem.train_libsvm(flags, "theirs")
    printed = [float(v) for v in re.findall(r"obj = (\S+),", capsys.readouterr().out)]
    mine, other = problem.objective(ours), problem.objective(theirs)
    np.testing.assert_allclose(mine, other, rtol=close, atol=close * 1e-2)
    if s != 1:
        np.testing.assert_allclose(printed, mine, rtol=1e-5, atol=1e-5)

    # Each library reads the other's file and says what the other says of it.
    for path in (ours, theirs):
        by_libsvm, decisions = problem.decide_libsvm(path)
        by_us = np.array([float(line) for line in problem.predict(path, "-q")])
        if s >= 3:
            np.testing.assert_allclose(by_us, by_libsvm, rtol=1e-5, atol=1e-5)
            continue
        sure = sure_rows(decisions, eps)
        assert sure.any()
        np.testing.assert_array_equal(by_us[sure], by_libsvm[sure])
    if s < 3:  # and the two machines agree where they are sure
        first, _ = problem.decide_libsvm(ours)
        second, decisions = problem.decide_libsvm(theirs)
        sure = sure_rows(decisions, eps)
        np.testing.assert_array_equal(first[sure], second[sure])


def test_the_header_is_libsvms_to_the_word(tmp_path):
    """Type, kernel, parameters, order of the labels: all but the numbers found by optimisation."""
    for s in range(5):
        for t in (1, 2, 4):
            problem = Problem(tmp_path, s, t, classes=3)
            flags = f"{TYPE_FLAGS[s]} {KERNEL_FLAGS[t]} -e 1e-8"
            files = [problem.train(flags + " -q", "ours"), problem.train_libsvm(flags, "theirs")]
            heads = [path.read_text().partition("SV\n")[0] for path in files]
            plain = [re.sub(r"(?m)^(rho|nr_sv|total_sv) .*$", r"\1", head) for head in heads]
            assert plain[0] == plain[1]


def test_weights_multiply_the_price_of_a_class(tmp_path):
    problem = Problem(tmp_path, 0, 2, classes=3)
    flags = "-s 0 -t 2 -g 0.3 -e 1e-6 -w5 4 -w7 0.5"
    ours, theirs = problem.train(flags + " -q", "ours"), problem.train_libsvm(flags, "theirs")
    np.testing.assert_allclose(problem.objective(ours), problem.objective(theirs), rtol=1e-5)
    one, two = (parse_libsvm_model(path.read_bytes()) for path in (ours, theirs))
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_allclose(one.rho, two.rho, atol=1e-4)
    ends = np.concatenate([[0], np.cumsum(one.n_support)])
    for k, label in enumerate(one.labels):
        largest = np.abs(one.coef[:, ends[k] : ends[k + 1]]).max()
        assert largest == pytest.approx({5: 4.0, 6: 1.0, 7: 0.5}[label])


def test_gamma_is_one_over_the_number_of_features_by_default(tmp_path):
    problem = Problem(tmp_path, 0, 2)
    assert parse_libsvm_model(problem.train("-q", "ours").read_bytes()).gamma == 1 / 3


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_agree_within_the_noise_of_their_folds(classes, tmp_path, capsys):
    problem = Problem(tmp_path, 0, 2, classes=classes, n=150)
    flags = "-s 0 -t 2 -g 0.3 -b 1"
    ours, theirs = problem.train(flags + " -q", "ours"), problem.train_libsvm(flags, "theirs")
    lines = problem.predict(ours, "-b 1")
    head = lines[0].split()
    assert head[0] == "labels"
    mine = np.array([[float(v) for v in line.split()] for line in lines[1:]])
    _, _, P = problem.predict_libsvm(theirs, "-b 1")
    stored = parse_libsvm_model(theirs.read_bytes())
    assert [int(v) for v in head[1:]] == stored.labels.tolist()
    assert np.abs(mine[:, 1:] - np.array(P)).mean() < 0.04
    np.testing.assert_allclose(mine[:, 1:].sum(axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(mine[:, 0], np.array(head[1:], dtype=float)[mine[:, 1:].argmax(axis=1)])
    assert "Accuracy = " in capsys.readouterr().out

    # The same file gives the same probabilities in both libraries; LIBSVM couples more than two classes by
    # an iteration that ends at 0.005.
    _, _, again = problem.predict_libsvm(ours, "-b 1")
    np.testing.assert_allclose(mine[:, 1:], np.array(again), atol=1e-4 if classes == 2 else 5e-3)


def test_the_scale_of_regression_errors(tmp_path, capsys):
    problem = Problem(tmp_path, 3, 2, n=150)
    flags = "-s 3 -t 2 -g 0.3 -b 1"
    ours = parse_libsvm_model(problem.train(flags, "ours").read_bytes())
    assert "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= " in capsys.readouterr().out
    theirs = parse_libsvm_model(problem.train_libsvm(flags, "theirs").read_bytes())
    assert ours.prob_a[0] == pytest.approx(theirs.prob_a[0], rel=0.1)
    problem.predict(problem.folder / "ours", "-b 1")
    assert f"sigma={ours.prob_a[0]:g}" in capsys.readouterr().out


def test_marks_of_a_one_class_machine(tmp_path):
    problem = Problem(tmp_path, 2, 2, n=120)
    flags = "-s 2 -t 2 -g 0.3 -n 0.3 -b 1 -e 1e-8"
    ours, theirs = problem.train(flags + " -q", "ours"), problem.train_libsvm(flags, "theirs")
    one, two = (parse_libsvm_model(path.read_bytes()) for path in (ours, theirs))
    # Vectors on the boundary fall to either side by rounding, so the marks are compared on one machine.
    np.testing.assert_allclose(density_marks(problem.decide_libsvm(theirs)[1][:, 0]), two.density_marks)
    assert (np.diff(one.density_marks) > 0).all()
    lines = problem.predict(theirs, "-b 1 -q")
    assert lines[0] == "label normal outlier"
    _, _, P = problem.predict_libsvm(theirs, "-b 1")
    mine = np.array([[float(v) for v in line.split()[1:]] for line in lines[1:]])
    assert (np.abs(mine - np.array(P)).max(axis=1) < 1e-6).mean() > 0.95  # but for rows that lie on a mark


def test_cross_validation_within_the_noise_of_its_folds(tmp_path, capsys):
    problem = Problem(tmp_path, 0, 2, classes=3, n=150)
    y, x = svmutil.svm_read_problem(str(problem.data))
    assert run("svm-train", ["-v", "5", "-g", "0.3", "-q", str(problem.data)]) == 0
    ours = float(re.fullmatch(r"Cross Validation Accuracy = (\S+)%\n", capsys.readouterr().out)[1])
    theirs = svmutil.svm_train(y, x, "-v 5 -g 0.3 -q")
    assert abs(ours - theirs) < 6.0
    capsys.readouterr()
    problem = Problem(tmp_path, 3, 2, n=150)
    y, x = svmutil.svm_read_problem(str(problem.data))
    assert run("svm-train", ["-s", "3", "-v", "5", "-g", "0.3", "-q", str(problem.data)]) == 0
    out = re.fullmatch(
        r"Cross Validation Mean squared error = (\S+)\n"
        r"Cross Validation Squared correlation coefficient = (\S+)\n",
        capsys.readouterr().out,
    )
    assert float(out[1]) == pytest.approx(svmutil.svm_train(y, x, "-s 3 -v 5 -g 0.3 -q"), rel=0.2)
    assert 0.0 < float(out[2]) < 1.0


def test_output_lines(tmp_path, capsys):
    problem = Problem(tmp_path, 0, 2, classes=3)
    problem.train("-g 0.3", "ours")
    text = capsys.readouterr().out
    block = (
        r"\*\noptimization finished, #iter = \d+\nnu = \d\.\d{6}\n"
        r"obj = -\d+\.\d{6}, rho = -?\d+\.\d{6}\nnSV = \d+, nBSV = \d+\n"
    )
    assert re.fullmatch(f"({block}){{3}}Total nSV = \\d+\n", text)
    problem.predict(problem.folder / "ours")
    assert re.fullmatch(r"Accuracy = \S+% \(\d+/60\) \(classification\)\n", capsys.readouterr().out)


def test_the_model_is_named_after_the_data(tmp_path, monkeypatch):
    problem = Problem(tmp_path, 0, 2)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("svm-train", ["-q", str(problem.data)]) == 0
    assert (tmp_path / "elsewhere" / "data.model").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-s", "9", "DATA"], "unknown svm type"),
        (["-c", "0", "DATA"], "C <= 0"),
        (["-s", "1", "-n", "0.99", "DATA"], "specified nu is infeasible"),
        (["-v", "1", "DATA"], "n must >= 2"),
        (["-z", "1", "DATA"], "Unknown option: -z"),
        (["nowhere"], "can't open input file nowhere"),
        (["-t", "4", "DATA"], "first column must be 0:sample_serial_number"),
    ],
)
def test_mistakes_are_named_and_end_with_1(arguments, words, tmp_path, capsys):
    problem = Problem(tmp_path, 0, 2)
    arguments = [str(problem.data) if word == "DATA" else word for word in arguments]
    if arguments[:2] == ["-s", "1"]:
        text = problem.data.read_text().splitlines()
        problem.data.write_text("\n".join(sorted(text, reverse=True)[:32]) + "\n")
    assert run("svm-train", arguments) == 1
    streams = capsys.readouterr()
    assert words in streams.err
    assert "Traceback" not in streams.err


def test_a_model_without_probabilities_says_so(tmp_path, capsys):
    problem = Problem(tmp_path, 0, 2)
    model = problem.train("-q", "ours")
    assert run("svm-predict", ["-b", "1", str(problem.data), str(model), str(tmp_path / "out")]) == 1
    assert "Model does not support" in capsys.readouterr().err
    assert run("svm-predict", [str(problem.data)]) == 1
    assert "Usage: svm-predict" in capsys.readouterr().out


def test_more_features_than_the_model_has_count_in_distances(tmp_path):
    problem = Problem(tmp_path, 0, 2)
    model = problem.train("-q", "ours")
    wide = tmp_path / "wide"
    wide.write_text("1 1:0.5 2:1 3:0.2 7:30\n-1 2:1\n")
    assert run("svm-predict", ["-q", str(wide), str(model), str(tmp_path / "out")]) == 0
    y, x = svmutil.svm_read_problem(str(wide))
    labels, _, _ = svmutil.svm_predict(y, x, svmutil.svm_load_model(str(model)), "-q")
    assert [float(v) for v in (tmp_path / "out").read_text().split()] == labels
