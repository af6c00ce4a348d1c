"""Files as people have them, and the command run in this process."""

import json
from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture
def mercer_command(capsys, monkeypatch, tmp_path):
    """Run the command in a folder of its own; return code, output, errors, and the document of --json."""
    pytest.importorskip("typer")
    from mercer.cli import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments):
        capsys.readouterr()
        code = run([str(word) for word in arguments])
        streams = capsys.readouterr()
        document = json.loads(streams.out) if "--json" in arguments and code in (0, 1) else None
        return SimpleNamespace(code=code, out=streams.out, err=streams.err, json=document)

    return command


@pytest.fixture
def people(tmp_path):
    """120 rows with numbers, text and a class in words; the same with gaps; new ones without the class."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 120
    frame = pandas.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": np.round(rng.lognormal(10, 0.5, n)),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
        }
    )
    score = (frame["age"] - 45) / 15 + (frame["city"] == "Oslo") + 0.4 * rng.normal(size=n)
    frame["buys"] = np.where(score > 0.3, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    gaps = frame.copy()
    gaps.loc[3, "income"] = np.nan
    gaps.loc[5, "city"] = None
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    frame.drop(columns="buys").head(30).to_csv(tmp_path / "new.csv", index=False)
    return frame
