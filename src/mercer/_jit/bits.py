"""What LLVM offers and Numba does not: reinterpreting the bits of a number, and a hint for wide vectors."""

from __future__ import annotations

import struct
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def float32_from_bits(i: Any) -> Any:
        """Return the float32 whose bits are ``i``."""
        return float(struct.unpack("<f", struct.pack("<i", int(i)))[0])

    def float64_from_bits(i: Any) -> Any:
        """Return the float64 whose bits are ``i``."""
        return float(struct.unpack("<d", struct.pack("<q", int(i)))[0])

    def prefer_wide_vectors() -> None:
        """Do nothing: there is no compiler to advise."""

else:
    from llvmlite import ir

    @intrinsic
    def float32_from_bits(typingctx: Any, i: Any) -> Any:
        """Return the float32 whose bits are ``i``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.FloatType())

        return types.float32(types.int32), codegen

    @intrinsic
    def float64_from_bits(typingctx: Any, i: Any) -> Any:
        """Return the float64 whose bits are ``i``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.int64), codegen

    @intrinsic
    def prefer_wide_vectors(typingctx: Any) -> Any:
        """Ask LLVM for the widest vectors of the machine in the calling function (its default is half).

        The function is kept out of its callers: inlined there it would lose the request, and be optimised
        again in each of them, which is most of the time that compilation takes.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            # llvmlite checks attribute names against a list that lacks this one; it prints what the set
            # holds.
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
            builder.function.attributes.add("noinline")
            return context.get_dummy_value()

        return types.void(), codegen
