"""What LLVM offers and Numba does not: reinterpreting the bits of a number, and a hint for wide vectors."""

from __future__ import annotations

import struct
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def float32_from_bits(i: Any) -> Any:
        """Return the float32 whose bits are ``i``."""
        return float(struct.unpack("<f", struct.pack("<i", int(i)))[0])

    def float64_from_bits(i: Any) -> Any:
        """Return the float64 whose bits are ``i``."""
        return float(struct.unpack("<d", struct.pack("<q", int(i)))[0])

    def bits_of_float64(x: Any) -> Any:
        """Return the bits of a float64 as an int64."""
        return np.frombuffer(struct.pack("<d", float(x)), dtype=np.int64)[0]

    def product_halves(a: Any, b: Any) -> Any:
        """Return the upper and the lower half of the product of two uint64."""
        product = int(a) * int(b)
        return np.uint64(product >> 64), np.uint64(product & 0xFFFFFFFFFFFFFFFF)

    def start_of(text: Any) -> Any:
        """Return what `byte_at` and `eight_bytes` take for an array of bytes."""
        return text

    def eight_bytes(start: Any, i: Any) -> Any:
        """Return the eight bytes from number i on as one uint64, the first lowest."""
        return np.uint64(int.from_bytes(bytes(start[i : i + 8]), "little"))

    def byte_at(start: Any, i: Any) -> Any:
        """Return byte number i, which must be there, as an int64."""
        return int(start[i])

    def leading_zeros(a: Any) -> Any:
        """Return the number of zero bits above the first one bit of a positive uint64."""
        return 64 - int(a).bit_length()

    def trailing_zeros(a: Any) -> Any:
        """Return the number of zero bits below the last one bit of a uint64; 64 if there is none."""
        return (int(a) & -int(a)).bit_length() - 1 if a else 64

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
    def bits_of_float64(typingctx: Any, x: Any) -> Any:
        """Return the bits of a float64 as an int64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen

    @intrinsic
    def product_halves(typingctx: Any, a: Any, b: Any) -> Any:
        """Return the upper and the lower half of the product of two uint64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            upper = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))
            halves = [upper, builder.trunc(product, ir.IntType(64))]
            return context.make_tuple(builder, signature.return_type, halves)

        pair: Any = types.UniTuple
        return pair(types.uint64, 2)(types.uint64, types.uint64), codegen

    # Text goes from function to function as the address of its first byte: each call would count the
    # references to an array, which takes longer than reading a digit, and each index be asked whether it is
    # negative.

    @intrinsic
    def start_of(typingctx: Any, text: Any) -> Any:
        """Return the address of the first byte of an array; the array must live as long as it is used."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, value=args[0])
            return builder.ptrtoint(array.data, ir.IntType(64))

        return types.int64(text), codegen

    @intrinsic
    def eight_bytes(typingctx: Any, start: Any, i: Any) -> Any:
        """Return the eight bytes from number i on as one uint64 (all our machines are little-endian)."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.inttoptr(builder.add(*args), ir.IntType(64).as_pointer())
            return builder.load(place, align=1)

        return types.uint64(types.int64, types.int64), codegen

    @intrinsic
    def byte_at(typingctx: Any, start: Any, i: Any) -> Any:
        """Return byte number i, which must be there, as an int64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.inttoptr(builder.add(*args), ir.IntType(8).as_pointer())
            return builder.zext(builder.load(place), ir.IntType(64))

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def trailing_zeros(typingctx: Any, a: Any) -> Any:
        """Return the number of zero bits below the last one bit of a uint64; 64 if there is none."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

    @intrinsic
    def leading_zeros(typingctx: Any, a: Any) -> Any:
        """Return the number of zero bits above the first one bit of a positive uint64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), codegen

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
