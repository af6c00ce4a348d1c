"""svm-scale: each feature to a given range, in LIBSVM's format and with its rounding."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from mercer.cli.libsvm.flags import ScaleFlags, parse_scale
from mercer.cli.whole_files import whole_file

ELEMENT = re.compile(r"\s*([+-]?\d+):\s*(\S+)")
NUMBER = r"([^\s]+)"


@dataclass
class Ranges:
    """What the scaling of each feature rests on."""

    lower: float
    upper: float
    low: dict[int, float] = field(default_factory=dict)
    high: dict[int, float] = field(default_factory=dict)
    y_limits: tuple[float, float] | None = None
    y_seen: tuple[float, float] = (float("inf"), float("-inf"))
    top: int = 0  # largest feature number


def main(arguments: list[str]) -> None:
    """Run svm-scale: scaled data to standard output."""
    flags = parse_scale(arguments)
    if not Path(flags.data).is_file():
        raise FileNotFoundError(f"can't open file {flags.data}")
    ranges = Ranges(flags.lower, flags.upper, y_limits=flags.y_limits)
    elements, smallest = measure(flags.data, ranges)
    if smallest < 1:
        _warn(f"WARNING: minimal feature index is {smallest}, but indices should start from 1\n")
    if flags.restore:
        restore(flags, ranges)
    if flags.save and smallest < 1:
        _warn(
            f"WARNING: scaling factors with indices smaller than 1 are not stored to the file {flags.save}.\n"
        )
    if not flags.save:
        written = write(flags.data, ranges, sys.stdout)
    else:
        with whole_file(Path(flags.save)) as part:
            save(part, ranges)  # a place that cannot be written to is told before the data are
            written = write(flags.data, ranges, sys.stdout)
    if written > elements:
        _warn(
            f"WARNING: original #nonzeros {elements}\n       > new      #nonzeros {written}\n"
            "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1\n"
        )


def rows(path: str) -> Iterator[tuple[float, list[tuple[int, float]]]]:
    """Yield the target and the elements of each line, whose indices rise."""
    with Path(path).open(encoding="utf-8", errors="replace") as lines:
        for count, line in enumerate(lines, start=1):
            label, _, rest = line.strip().partition(" ")
            label, tab, more = label.partition("\t")
            rest = f"{more} {rest}" if tab else rest
            try:
                target = float(label)
            except ValueError:
                raise ValueError(
                    f"failed to read labels: line {count} of {path} starts with {label!r}"
                ) from None
            yield target, _elements(rest.partition("#")[0], count, path)


def _elements(text: str, count: int, path: str) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    position = 0
    while match := ELEMENT.match(text, position):
        try:
            found.append((int(match[1]), float(match[2])))
        except ValueError:
            raise ValueError(f"line {count} of {path}: {match[2]!r} is not a number") from None
        position = match.end()
    if text[position:].strip():
        raise ValueError(
            f"line {count} of {path}: expected index:value, found {text[position:].split()[0]!r}"
        )
    return found


def measure(path: str, ranges: Ranges) -> tuple[int, int]:
    """Find the range of each feature; return the number of elements and the smallest index.

    A feature that a row leaves out is 0 there. So the range of a feature that is not in every row includes 0.
    """
    seen: dict[int, int] = {}
    elements, smallest, count = 0, 1, 0
    y_low, y_high = ranges.y_seen
    for target, row in rows(path):
        count += 1
        y_low, y_high = min(y_low, target), max(y_high, target)
        for index, value in row:
            smallest = min(smallest, index)
            seen[index] = seen.get(index, 0) + 1
            ranges.low[index] = min(ranges.low.get(index, value), value)
            ranges.high[index] = max(ranges.high.get(index, value), value)
        elements += len(row)
    for index, times in seen.items():
        if times < count:
            ranges.low[index] = min(ranges.low[index], 0.0)
            ranges.high[index] = max(ranges.high[index], 0.0)
    ranges.y_seen = (y_low, y_high)
    ranges.top = max(seen, default=0)
    return elements, smallest


def restore(flags: ScaleFlags, ranges: Ranges) -> None:
    """Take the ranges from a file that svm-scale wrote; features that it does not name become 0."""
    assert flags.restore is not None
    if not Path(flags.restore).is_file():
        raise FileNotFoundError(f"can't open file {flags.restore}")
    words = Path(flags.restore).read_text(encoding="utf-8").split()
    try:
        if words[:1] == ["y"]:
            ranges.y_limits = (float(words[1]), float(words[2]))
            ranges.y_seen = (float(words[3]), float(words[4]))
            words = words[5:]
        if words[:1] != ["x"]:
            raise ValueError("it does not begin with 'x' or 'y'")
        ranges.lower, ranges.upper = float(words[1]), float(words[2])
        triples = [words[k : k + 3] for k in range(3, len(words), 3)]
        known = {int(index): (float(low), float(high)) for index, low, high in triples}
    except (ValueError, IndexError) as error:
        raise ValueError(f"failed to read scaling parameters from {flags.restore}: {error}") from error
    ranges.top = max([ranges.top, *known])
    for index in range(1, ranges.top + 1):
        if index not in known and ranges.low.get(index, 0.0) != ranges.high.get(index, 0.0):
            _warn(
                f"WARNING: feature index {index} appeared in file {flags.data} was not seen in the scaling "
                f"factor file {flags.restore}. The feature is scaled to 0.\n"
            )
    ranges.low = {index: low for index, (low, _) in known.items()}
    ranges.high = {index: high for index, (_, high) in known.items()}


def save(path: Path, ranges: Ranges) -> None:
    """Write the ranges, all digits of them."""
    lines = []
    if ranges.y_limits is not None:
        lines += ["y", _pair(ranges.y_limits), _pair(ranges.y_seen)]
    lines += ["x", _pair((ranges.lower, ranges.upper))]
    for index in range(1, ranges.top + 1):
        low, high = ranges.low.get(index, 0.0), ranges.high.get(index, 0.0)
        if low != high:
            lines.append(f"{index} {_pair((low, high))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _pair(values: tuple[float, float]) -> str:
    return f"{values[0]:.17g} {values[1]:.17g}"


def write(path: str, ranges: Ranges, target: TextIO) -> int:
    """Write the scaled data; return the number of elements that are not 0."""
    written = 0
    used = [k for k in range(1, ranges.top + 1) if ranges.low.get(k, 0.0) != ranges.high.get(k, 0.0)]
    at_zero = {k: scale(0.0, ranges.low[k], ranges.high[k], ranges.lower, ranges.upper) for k in used}
    zero_words = {k: f"{k}:{value:g} " for k, value in at_zero.items() if value != 0.0}
    for label, row in rows(path):
        words = [f"{_label(label, ranges):.17g} "]
        present = dict(row)
        for k in used:
            if k not in present:
                if k in zero_words:
                    words.append(zero_words[k])
                continue
            value = scale(present[k], ranges.low[k], ranges.high[k], ranges.lower, ranges.upper)
            if value != 0.0:
                words.append(f"{k}:{value:g} ")
        written += len(words) - 1
        target.write("".join(words) + "\n")
    return written


def scale(value: float, low: float, high: float, lower: float, upper: float) -> float:
    """Return where ``value`` goes when [low, high] goes to [lower, upper]; the ends go there exactly."""
    if value == low:
        return lower
    if value == high:
        return upper
    return lower + (upper - lower) * (value - low) / (high - low)


def _label(label: float, ranges: Ranges) -> float:
    if ranges.y_limits is None:
        return label
    low, high = ranges.y_seen
    if low == high and label not in (low, high):
        return label
    return scale(label, low, high, *ranges.y_limits)


def _warn(text: str) -> None:
    sys.stderr.write(text)
