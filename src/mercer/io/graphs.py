"""Graphs from files: folders in the layout of TUDataset, GraphML and GML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer.io.errors import DataFileError
from mercer.io.extras import require


@dataclass(frozen=True, eq=False)
class GraphTable:
    """Graphs, with the target where there is one.

    Attributes
    ----------
    X : list
        The graphs, as the kernels of `mercer.kernels` take them.
    y : ndarray of shape (n,) or None
        The target.
    name : str
        Of the data set.
    """

    X: list[Any]
    y: np.ndarray | None
    name: str

    def __len__(self) -> int:
        return len(self.X)


def read_graphs(path: str | os.PathLike[str]) -> GraphTable:
    """Read graphs from a folder in the layout of TUDataset, or one graph from a GraphML or GML file.

    A folder holds ``NAME_A.txt`` (an edge "i, j" a line, nodes counted from 1), ``NAME_graph_indicator.txt``
    (the graph of each node) and, where there are any, ``NAME_graph_labels.txt`` or
    ``NAME_graph_attributes.txt`` (the target), ``NAME_node_labels.txt``, ``NAME_edge_labels.txt`` and
    ``NAME_node_attributes.txt`` (vectors). Edges that are there in both directions are undirected.

    Parameters
    ----------
    path : str or path
        A folder, or a file that ends in ``.graphml`` or ``.gml``, for which networkx is needed.

    Returns
    -------
    GraphTable
        Graphs and target.
    """
    place = Path(path)
    if place.is_dir():
        return _folder(place)
    reader = {".graphml": "read_graphml", ".gml": "read_gml"}.get(place.suffix.lower())
    if not place.exists():
        raise FileNotFoundError(f"there is no file or folder {os.fspath(path)!r}")
    if reader is None:
        raise DataFileError(f"{place.name!r} is neither a folder nor a .graphml or .gml file")
    networkx = require("networkx", "graphs", f"reading {place.suffix} files")
    try:
        graph = getattr(networkx, reader)(place)
    except (networkx.NetworkXError, ValueError, SyntaxError, UnicodeDecodeError) as error:
        raise DataFileError(f"{place.name!r} cannot be read as {place.suffix[1:]}: {error}") from error
    return GraphTable([graph], None, place.stem)


def _folder(place: Path) -> GraphTable:
    found = sorted(place.glob("*_A.txt"))
    if len(found) != 1:
        raise DataFileError(
            f"{place.name!r} is a folder that holds {len(found)} files NAME_A.txt; a data set has one"
        )
    name = found[0].name[: -len("_A.txt")]

    def numbers(part: str, kind: type = float) -> Any:
        file = place / f"{name}_{part}.txt"
        if not file.exists():
            return None
        try:
            return np.loadtxt(file, delimiter=",", ndmin=2, dtype=kind)
        except ValueError as error:
            raise DataFileError(f"{file.name!r} is no table of numbers: {error}") from error

    owner = numbers("graph_indicator", np.int64)
    if owner is None:
        raise DataFileError(f"{name}_graph_indicator.txt is missing: which graph has which nodes?")
    owner = owner[:, 0]
    if owner.size and (owner.min() < 1 or (np.diff(owner) < 0).any()):
        raise DataFileError(f"{name}_graph_indicator.txt must hold numbers from 1 on that never fall")
    edges = numbers("A", np.int64) - 1
    if edges.size and (edges.shape[1] != 2 or edges.min() < 0 or edges.max() >= owner.size):
        raise DataFileError(f"{name}_A.txt must hold pairs of node numbers from 1 to {owner.size}")
    if edges.size and (owner[edges[:, 0]] != owner[edges[:, 1]]).any():
        raise DataFileError(f"{name}_A.txt has an edge between two graphs")
    labels, vectors = numbers("node_labels", np.int64), numbers("node_attributes")
    edge_labels, y = numbers("edge_labels", np.int64), numbers("graph_labels")
    y = numbers("graph_attributes") if y is None else y
    for part, values, length in (
        ("node_labels", labels, owner.size),
        ("node_attributes", vectors, owner.size),
        ("edge_labels", edge_labels, len(edges)),
    ):
        if values is not None and len(values) != length:
            raise DataFileError(f"{name}_{part}.txt has {len(values)} lines; {length} are needed")
    count = max(int(owner.max(initial=0)), 0 if y is None else len(y))
    if y is not None and len(y) != count:
        raise DataFileError(f"{name}_graph_labels.txt has {len(y)} lines for {count} graphs")
    starts = np.searchsorted(owner, np.arange(1, count + 2))
    order = np.argsort(owner[edges[:, 0]], kind="stable") if edges.size else np.zeros(0, dtype=np.int64)
    bounds = np.searchsorted(owner[edges[order, 0]] if edges.size else order, np.arange(1, count + 2))
    X: list[dict[str, Any]] = []
    for g in range(count):
        first, last = starts[g], starts[g + 1]
        mine = order[bounds[g] : bounds[g + 1]]
        pairs = edges[mine] - first
        there = set(map(tuple, pairs.tolist()))
        directed = any((v, u) not in there for u, v in there)
        if not directed:
            mine, pairs = mine[pairs[:, 0] <= pairs[:, 1]], pairs[pairs[:, 0] <= pairs[:, 1]]
        graph: dict[str, Any] = {"nodes": int(last - first), "edges": pairs, "directed": directed}
        if labels is not None:
            graph["labels"] = labels[first:last, 0].tolist()
        if vectors is not None:
            graph["vectors"] = vectors[first:last]
        if edge_labels is not None:
            graph["edge_labels"] = edge_labels[mine, 0].tolist()
        X.append(graph)
    target = None if y is None else y[:, 0]
    if target is not None and (target == np.rint(target)).all():
        target = target.astype(np.int64)
    return GraphTable(X, target, name)
