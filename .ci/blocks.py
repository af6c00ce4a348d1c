"""Print the fenced code blocks of a Markdown file: ``blocks.py FILE LANGUAGE [NUMBER | --count]``."""

import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path: str, language: str) -> list[str]:
    """Return the contents of the blocks in this language, in their order."""
    text = Path(path).read_text(encoding="utf-8")
    return [body for found, body in FENCE.findall(text) if found == language]


if __name__ == "__main__":
    path, language, *which = sys.argv[1:]
    found = blocks(path, language)
    if which == ["--count"]:
        print(len(found))
    else:
        print("\n".join(found if not which else [found[int(which[0]) - 1]]), end="")
