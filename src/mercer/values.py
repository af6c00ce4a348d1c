"""Objects that are their constructor's parameters: compared, hashed, printed and cloned by them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable
from functools import cache
from numbers import Real
from typing import Any, NoReturn, Self, TypeVar

import numpy as np

Kind = TypeVar("Kind")


@cache
def _names(cls: Any) -> tuple[str, ...]:
    signature = inspect.signature(cls.__init__)
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(name for name, p in signature.parameters.items() if name != "self" and p.kind not in kinds)


def parameter_names(cls: type) -> tuple[str, ...]:
    """Return the names in the signature of ``cls.__init__``, in their order."""
    return _names(cls)


@cache
def _defaults(cls: Any) -> dict[str, Any]:
    parameters = inspect.signature(cls.__init__).parameters.items()
    return {name: p.default for name, p in parameters if p.default is not inspect.Parameter.empty}


def parameter_defaults(cls: type) -> dict[str, Any]:
    """Return the defaults in the signature of ``cls.__init__``, of those parameters that have one."""
    return _defaults(cls)


def keep_parameters(owner: object, given: dict[str, Any]) -> None:
    """Store the arguments of a constructor under their own names, as scikit-learn wants it done.

    Parameters
    ----------
    owner : object
        What is constructed.
    given : dict
        What ``locals()`` returns at the beginning of its ``__init__``.
    """
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(owner, name, value)


def subclasses(cls: type[Kind]) -> list[type[Kind]]:
    """Return all classes derived from ``cls``, directly or not, that were defined so far, each once."""
    found: dict[type[Kind], None] = {}
    for child in cls.__subclasses__():
        found.update(dict.fromkeys([child, *subclasses(child)]))
    return list(found)


class Value:
    """A value: the parameters of ``__init__``, stored under their own names.

    Two values are equal when their types and parameters are (arrays by content), whatever else they may have
    computed. scikit-learn's ``clone`` and ``set_params`` work on them.
    """

    @property
    def is_of_user(self) -> bool:
        """Whether a user wrote it, or a part of it: what it says of itself is then looked at, not proved."""
        return not type(self).__module__.startswith("mercer.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of nested values, as ``name__parameter``.

        Parameters
        ----------
        deep : bool
            Whether to descend into parameters that have parameters themselves.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = {}
        for name in parameter_names(type(self)):
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Value):
                params.update({f"{name}__{key}": v for key, v in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters of this object and of no other.

        A nested parameter (``k1__gamma``) replaces ``k1`` by a changed copy: another kernel that shares the
        old ``k1`` keeps it as it was.

        Parameters
        ----------
        **params : Any
            New values by name.

        Returns
        -------
        Self
            This object.
        """
        names = parameter_names(type(self))
        nested: dict[str, dict[str, Any]] = {}
        for key in params:
            name, separator, rest = key.partition("__")
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for kernel {self!r}. Valid parameters are: {list(names)!r}."
                )
            if separator:
                nested.setdefault(name, {})[rest] = params[key]
        for key, value in params.items():
            if key in names:
                setattr(self, key, value)
        for name, changes in nested.items():
            part = getattr(self, name)
            if not isinstance(part, Value):
                raise ValueError(f"{type(self).__name__}: {name}={part!r} has no parameters to set.")
            setattr(self, name, part.replaced().set_params(**changes))
        return self

    def replaced(self, **changes: Any) -> Self:
        """Return a new object with these parameters changed; parts that are not named are shared."""
        return type(self)(**{**self.get_params(deep=False), **changes})

    def _key(self) -> tuple[Hashable, ...]:
        return tuple(frozen(value) for value in self.get_params(deep=False).values())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Value)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        return self.expression()

    def expression(self) -> str:
        """Return Python source that builds this object, given its classes by name and ``np``."""
        params = self.get_params(deep=False).items()
        return f"{type(self).__name__}({', '.join(f'{name}={source(value)}' for name, value in params)})"

    def _refuse(self, name: str, value: object, allowed: str) -> NoReturn:
        raise ValueError(f"{type(self).__name__}: {name}={value!r} is not allowed; it must be {allowed}.")


def frozen(value: Any) -> Hashable:
    """Return something hashable that is equal exactly when the values' contents are."""
    if isinstance(value, np.ndarray):
        return frozen(value.tolist())
    if isinstance(value, np.generic):
        return frozen(value.item())
    if isinstance(value, list | tuple):
        return ("sequence", *(frozen(v) for v in value))
    if isinstance(value, dict):
        return ("mapping", frozenset((frozen(key), frozen(v)) for key, v in value.items()))
    if isinstance(value, slice):  # unhashable before Python 3.12
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, Hashable):
        return value
    return ("object", id(value))


def source(value: Any) -> str:
    """Return Python source for a parameter's value."""
    if isinstance(value, Value):
        return value.expression()
    if isinstance(value, np.generic):
        return source(value.item())
    if isinstance(value, np.ndarray):
        plain = value.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool))
        dtype = "" if plain and value.size else f", dtype=np.{value.dtype.name}"
        return f"np.array({source(value.tolist())}{dtype})"
    if isinstance(value, list):
        return f"[{', '.join(map(source, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(source(v) + ', ' for v in value).strip()})"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}np.inf"
    if callable(value):
        return name_of(value)
    return repr(value)


def is_real(value: Any) -> bool:
    """Return whether this is a real number, of Python or NumPy."""
    return isinstance(value, Real)


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called in its module."""
    return getattr(function, "__qualname__", None) or repr(function)
