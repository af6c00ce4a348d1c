"""Print the lowest versions of the library's dependencies that pyproject.toml allows, as pip constraints."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parent.parent.joinpath("pyproject.toml").read_text())["project"]
tools = [line for line in project["optional-dependencies"]["dev"] if line.startswith("pytest>")]
for requirement in [*project["dependencies"], *tools]:
    match = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml has no plain lower bound (name>=version)")
    print(f"{match[1]}=={match[2]}")
