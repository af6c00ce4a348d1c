"""The nodes of an ONNX graph, named as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from mercer.io.extras import require

OPSET, ML_OPSET, IR = 17, 3, 8  # old enough for every runtime of the last years
DOUBLE, INT64, STRING, BOOL = 11, 7, 8, 9  # as ONNX numbers them
ML = "ai.onnx.ml"


@dataclass
class _Shared:
    """What a graph and the bodies of its loops have in common: constants, and names that occur once."""

    onnx: Any
    constants: list[Any] = field(default_factory=list)
    known: dict[tuple[str, tuple[int, ...], bytes], str] = field(default_factory=dict)
    numbers: Any = field(default_factory=count)
    domains: set[str] = field(default_factory=set)
    widths: dict[str, int] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)


class Graph:
    """Nodes and constants of a graph."""

    def __init__(self, shared: _Shared | None = None) -> None:
        self._shared = _Shared(require("onnx", "onnx", "ONNX export")) if shared is None else shared
        self.onnx = self._shared.onnx
        self.nodes: list[Any] = []

    @property
    def constants(self) -> list[Any]:
        """The constants, as ONNX's initializers."""
        return self._shared.constants

    @property
    def domains(self) -> set[str]:
        """The sets of operators beside the main one."""
        return self._shared.domains

    @property
    def widths(self) -> dict[str, int]:
        """Numbers of columns of the tables that kernels see."""
        return self._shared.widths

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names for inputs and outputs."""
        self._shared.reserved.update(names)

    def name(self, letter: str = "v") -> str:
        """Return a name that nothing has yet."""
        return next(
            name
            for number in self._shared.numbers
            if (name := f"{letter}{number}") not in self._shared.reserved
        )

    def const(self, value: Any, dtype: Any = np.float64) -> str:
        """Return the name of a constant."""
        array = np.asarray(value, dtype=dtype, order="C")
        plain = array.dtype.kind != "O"
        key = (array.dtype.str, array.shape, array.tobytes() if plain else repr(array.tolist()).encode())
        if key not in self._shared.known:
            name = self.name("c")
            self._shared.known[key] = name
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return self._shared.known[key]

    def op(self, kind: str, *inputs: str, out: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add an operator; return the name of its output."""
        name = out or self.name()
        node = self.onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(node)
        if domain:
            self.domains.add(domain)
        return name

    def sum(self, x: str, axis: int, keep: bool = False) -> str:
        """Sum over an axis."""
        return self.op("ReduceSum", x, self.const([axis], np.int64), keepdims=int(keep))

    def unsqueeze(self, x: str, axis: int) -> str:
        """Add an axis of length one."""
        return self.op("Unsqueeze", x, self.const([axis], np.int64))

    def flat(self, x: str) -> str:
        """Return a column as a vector."""
        return self.op("Reshape", x, self.const([-1], np.int64))

    def column(self, x: str, index: int) -> str:
        """Return a column of a table as a vector."""
        return self.op("Gather", x, self.const(index, np.int64), axis=1)

    def number(self, condition: str) -> str:
        """Return 1.0 where a condition holds, else 0.0."""
        return self.op("Cast", condition, to=DOUBLE)

    def clip(self, x: str, low: Any = None, high: Any = None) -> str:
        """Return x within limits, which may be one for each column."""
        x = x if low is None else self.op("Max", x, self.const(low))
        return x if high is None else self.op("Min", x, self.const(high))

    def affine(self, x: str, factor: float, shift: float = 0.0) -> str:
        """Return factor x + shift.

        onnxruntime takes a factor for 1, and leaves it out, if it is 1 in single precision.
        """
        if factor != 1.0 and np.float32(factor) == 1.0:
            x = self.op("Add", x, self.op("Mul", x, self.const(factor - 1.0)))
        elif factor != 1.0:
            x = self.op("Mul", x, self.const(factor))
        return self.op("Add", x, self.const(shift)) if shift != 0.0 else x

    def scaled(self, table: str, values: Any) -> str:
        """Return a table of two dimensions times one number, or one for each column.

        A constant number beside a matrix product would be merged into it by onnxruntime, in single
        precision; so a single number is made to look as if it depended on the rows.
        """
        if np.size(values) > 1:
            return self.op("Mul", table, self.const(np.reshape(values, (1, -1))))
        value = float(np.ravel(values)[0])
        if value == 1.0:
            return table
        zeros = self.op("Mul", self.sum(table, 1, keep=True), self.const(0.0))
        return self.op("Mul", table, self.op("Add", zeros, self.const(value)))

    def power(self, x: str, exponent: float) -> str:
        """Return x to a power; whole ones by multiplication, as powers of negative numbers need it."""
        if exponent != int(exponent) or not 1 <= exponent <= 64:
            return self.op("Pow", x, self.const(exponent))
        out, square, n = None, x, int(exponent)
        while n:
            if n & 1:
                out = square if out is None else self.op("Mul", out, square)
            n >>= 1
            if n:
                square = self.op("Mul", square, square)
        assert out is not None
        return out

    def loop(
        self,
        most: int,
        state: list[tuple[str, int]],
        body: Callable[[Graph, str, list[str]], tuple[str | None, list[str]]],
    ) -> list[str]:
        """Add a loop; return the names of its state at the end.

        Parameters
        ----------
        most : int
            Number of rounds at most.
        state : list of (str, int)
            Names of the values to begin with, and their types.
        body : callable
            ``body(graph, round, state)`` adds the nodes of a round, and returns the condition under which
            another one follows (None: always) and the new state.
        """
        helper, inner = self.onnx.helper, Graph(self._shared)
        number, before = inner.name(), inner.name()
        names = [inner.name() for _ in state]
        again, after = body(inner, number, names)
        again = inner.op("Identity", before if again is None else again)
        after = [inner.op("Identity", name) for name in after]
        made = helper.make_graph(
            inner.nodes,
            f"round{number}",
            [
                helper.make_tensor_value_info(number, INT64, []),
                helper.make_tensor_value_info(before, BOOL, []),
                *(
                    helper.make_tensor_value_info(name, kind, None)
                    for name, (_, kind) in zip(names, state, strict=True)
                ),
            ],
            [
                helper.make_tensor_value_info(again, BOOL, []),
                *(
                    helper.make_tensor_value_info(name, kind, None)
                    for name, (_, kind) in zip(after, state, strict=True)
                ),
            ],
        )
        out = [self.name() for _ in state]
        inputs = [self.const(most, np.int64), self.const(True, np.bool_), *(name for name, _ in state)]
        self.nodes.append(helper.make_node("Loop", inputs, out, body=made))
        return out
