r"""Trees of any make as text in brackets, and what such text says.

A node is ``(label child child ...)``; a child is a node or a bare word, which is a leaf. So both usual
styles, ``(S (NP a) (VP b))`` and ``(S(NP(a))(VP(b)))``, are the same tree. A backslash takes the next
character as it is: labels may hold blanks and brackets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mercer.kernels.containers import listed, shown

KINDS = (
    "text in brackets such as '(S (NP a) (VP b))', nested tuples or lists (label, child, ...), objects with "
    "a label and children, or a node of Python's ast"
)
_TOKENS = re.compile(r"[()]|(?:\\.?|[^\s()\\])+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_SPECIAL = re.compile(r"([\s()\\])")


def check_trees(X: Any, *, estimator: Any = None, name: str = "X") -> list[str]:
    """Return trees as text in brackets, or say which item is none.

    Parameters
    ----------
    X : sequence, array, series of a data frame
        The trees.
    estimator : object or str, optional
        Whose data they are, for messages.
    name : str
        What the data are called in messages.
    """
    if callable(getattr(X, "label", None)) or isinstance(X, ast.AST):
        raise TypeError(f"{name} must be a list or array of trees; it is a single tree. Put it into a list.")
    items = listed(X, of="trees", estimator=estimator, name=name)
    return [_checked(item, f"{name}[{i}]") for i, item in enumerate(items)]


def _checked(item: Any, where: str) -> str:
    try:
        if isinstance(item, str):
            parse(item)
            return str(item)
        return text_of(item)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where} {error}") from None


def parse(text: str) -> tuple[list[str], list[int]]:
    """Return the labels of a tree's nodes and how many children each has, children before their parents."""
    labels: list[str] = []
    arities: list[int] = []
    names: list[str | None] = []  # of the nodes that are open
    counts: list[int] = []
    for token in _TOKENS.findall(text):
        if token == "(":
            if labels and not names:
                raise ValueError("holds more than one tree.")
            names.append(None)
            counts.append(0)
            continue
        if not names:
            what = "closes a bracket that is not open" if token == ")" else "has words outside of brackets"
            raise ValueError(f"is no tree: {text[:40]!r} {what}. A tree is {KINDS}.")
        if token == ")":
            label = names.pop()
            labels.append("" if label is None else label)
            arities.append(counts.pop())
        elif names[-1] is None and counts[-1] == 0:
            names[-1] = _plain(token)
            continue
        else:
            labels.append(_plain(token))
            arities.append(0)
        if counts:
            counts[-1] += 1
    if names:
        raise ValueError(f"is no tree: {len(names)} brackets of {text[:40]!r} are never closed.")
    return labels, arities


def _plain(token: str) -> str:
    return _ESCAPED.sub(r"\1", token) if "\\" in token else token


def escaped(label: str) -> str:
    """Return a label as it stands in text."""
    return _SPECIAL.sub(r"\\\1", label)


def text_of(tree: Any) -> str:
    """Return a tree that is not text as such; however deep it is, Python's recursion limit is not met."""
    if isinstance(tree, list | tuple) and not callable(getattr(tree, "label", None)) and not tree:
        return ""
    parts: list[str] = []
    path: list[tuple[int, Iterator[Any]]] = []
    ahead: Iterator[Any] = iter([tree])
    above: set[int] = set()  # the nodes on the path, to notice circles
    while True:
        for node in ahead:
            label, children = _opened(node, bool(path))
            parts.append("(" + escaped(label))
            if len(children) == 0:
                parts.append(")")
                continue
            if id(node) in above:
                raise ValueError("is no tree: a node is among its own descendants.")
            above.add(id(node))
            path.append((id(node), ahead))
            ahead = iter(children)
            break
        else:
            if not path:
                return "".join(parts)
            number, ahead = path.pop()
            above.discard(number)
            parts.append(")")


def _opened(node: Any, inside: bool) -> tuple[str, Sequence[Any]]:
    """Return the label and the children of a node."""
    if isinstance(node, str) and inside:
        return node, ()
    if isinstance(node, ast.AST):
        return type(node).__name__, list(_fields(node))
    if hasattr(node, "label"):
        label = node.label() if callable(node.label) else node.label
        if not hasattr(node, "children"):  # such as NLTK's: a list of its children
            return _label(label), list(node)
        children = node.children() if callable(node.children) else node.children
        return _label(label), list(children or ())
    if isinstance(node, list | tuple):
        if not node:
            raise ValueError("is no tree: one of its nodes is an empty list, without a label.")
        return _label(node[0]), node[1:]
    if inside and isinstance(node, int | float):
        return _label(node), ()
    raise TypeError(
        f"is {shown(node)}; a tree kernel compares trees: {KINDS}."
        if not inside
        else f"is no tree: one of its nodes is {shown(node)}."
    )


def _label(label: Any) -> str:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, int | float):
        return repr(label)
    raise TypeError(f"is no tree: the label of a node is {shown(label)}; it must be a string or a number.")


def _fields(node: ast.AST) -> Iterator[Any]:
    """Yield what a node of a syntax tree is made of: nodes, and names and constants as leaves."""
    for _, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield part
            elif part is not None:
                yield part if isinstance(part, str) and not isinstance(node, ast.Constant) else repr(part)
