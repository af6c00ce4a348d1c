"""The algebra of kernels, as operators: what they build is in the modules that they import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer.values import is_real

if TYPE_CHECKING:
    from mercer.kernels.algebra import Power, Product, Scaled, Sum
    from mercer.kernels.on_columns import OnColumns
    from mercer.kernels.spectral import Clipped, Flipped, Shifted
    from mercer.kernels.transforms import Centered, Normalized


class Operators:
    """Sums, products, powers, multiples and views of a kernel."""

    def __add__(self: Any, other: Any) -> Sum:
        from mercer.kernels.algebra import Constant, Sum
        from mercer.kernels.base import Kernel

        if isinstance(other, Kernel):
            return Sum(self, other)
        return Sum(self, Constant(other)) if is_real(other) else NotImplemented

    def __radd__(self: Any, other: Any) -> Any:
        from mercer.kernels.algebra import Constant, Sum

        if isinstance(other, int) and other == 0:  # sum([k1, k2, k3]) starts with 0
            return self
        return Sum(Constant(other), self) if is_real(other) else NotImplemented

    def __mul__(self: Any, other: Any) -> Product | Scaled:
        from mercer.kernels.algebra import Product, Scaled
        from mercer.kernels.base import Kernel

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if is_real(other) else NotImplemented

    def __rmul__(self: Any, other: Any) -> Scaled:
        from mercer.kernels.algebra import Scaled

        return Scaled(self, other) if is_real(other) else NotImplemented

    def __pow__(self: Any, exponent: Any) -> Power:
        from mercer.kernels.algebra import Power

        return Power(self, exponent) if is_real(exponent) else NotImplemented

    def normalized(self: Any) -> Normalized:
        """Return k(x, z) / sqrt(k(x, x) k(z, z))."""
        from mercer.kernels.transforms import Normalized

        return Normalized(self)

    def centered(self: Any) -> Centered:
        """Return the kernel of phi(x) minus its mean over the training data."""
        from mercer.kernels.transforms import Centered

        return Centered(self)

    def on(self: Any, columns: Any) -> OnColumns:
        """Return this kernel applied to some columns of a table only, by name or number."""
        from mercer.kernels.on_columns import OnColumns

        return OnColumns(self, columns)

    def shifted(self: Any, amount: Any = "auto") -> Shifted:
        """Return k(x, z) + s [x = z]; "auto": the least s that no training eigenvalue is negative with."""
        from mercer.kernels.spectral import Shifted

        return Shifted(self, amount)

    def clipped(self: Any) -> Clipped:
        """Return this kernel without the directions in which the training items' matrix is negative."""
        from mercer.kernels.spectral import Clipped

        return Clipped(self)

    def flipped(self: Any) -> Flipped:
        """Return this kernel with the negative directions of the training items' matrix made positive."""
        from mercer.kernels.spectral import Flipped

        return Flipped(self)
