"""Rows of integers that describe parts of graphs, and exact numbers for equal rows."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def number_rows(flat: np.ndarray, starts: np.ndarray, numbers: np.ndarray, first: np.ndarray) -> int:
    """Give rows numbers in the order in which they first occur; equal rows, and only these, have one number.

    Row r is ``flat[starts[r]:starts[r + 1]]``. ``first[k]`` becomes the first row with number k. Return how
    many different rows there are.
    """
    n = starts.size - 1
    bits = 4
    while (1 << bits) < 2 * n + 1:
        bits += 1
    mask = (1 << bits) - 1
    slots = np.full(1 << bits, -1, dtype=np.int64)
    found = 0
    for r in range(n):
        length = starts[r + 1] - starts[r]
        code = length
        for k in range(starts[r], starts[r + 1]):
            part = flat[k] ^ (flat[k] >> 32)
            code = ((code ^ part) & 0x7FFFFFFF) * 668265263  # of 30 bits: no product overflows
            code ^= code >> 15
        slot = (code ^ (code >> 31)) & mask
        while True:
            known = slots[slot]
            if known < 0:
                slots[slot] = found
                first[found] = r
                numbers[r] = found
                found += 1
                break
            other = first[known]
            same = starts[other + 1] - starts[other] == length
            k = 0
            while same and k < length:
                same = flat[starts[other] + k] == flat[starts[r] + k]
                k += 1
            if same:
                numbers[r] = known
                break
            slot = (slot + 1) & mask
    return found


@compiled(inner=True)
def sort_short(flat: np.ndarray, begin: int, end: int) -> None:
    """Sort a stretch of an array; neighbourhoods are short, mostly."""
    if end - begin > 32:
        flat[begin:end] = np.sort(flat[begin:end])
        return
    for k in range(begin + 1, end):
        value = flat[k]
        at = k
        while at > begin and flat[at - 1] > value:
            flat[at] = flat[at - 1]
            at -= 1
        flat[at] = value


@compiled
def neighbourhood_rows(
    colours: np.ndarray,
    out_starts: np.ndarray,
    out_nodes: np.ndarray,
    out_labels: np.ndarray,
    in_starts: np.ndarray,
    in_nodes: np.ndarray,
    in_labels: np.ndarray,
    flat: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Write a row for each node: its colour, how many edges leave it, and the sorted colours around it.

    A neighbour's colour comes with the label of the edge. Edges that enter follow those that leave.
    """
    at = 0
    starts[0] = 0
    for node in range(colours.size):
        flat[at] = colours[node]
        flat[at + 1] = out_starts[node + 1] - out_starts[node]
        at += 2
        begin = at
        for k in range(out_starts[node], out_starts[node + 1]):
            flat[at] = (colours[out_nodes[k]] << 20) | out_labels[k]
            at += 1
        sort_short(flat, begin, at)
        begin = at
        for k in range(in_starts[node], in_starts[node + 1]):
            flat[at] = (colours[in_nodes[k]] << 20) | in_labels[k]
            at += 1
        sort_short(flat, begin, at)
        starts[node + 1] = at


@compiled
def step_distances(
    node_starts: np.ndarray,
    out_starts: np.ndarray,
    out_nodes: np.ndarray,
    pair_starts: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with the steps between all nodes of each graph, infinity where there is no path."""
    most = 0
    for g in range(node_starts.size - 1):
        most = max(most, node_starts[g + 1] - node_starts[g])
    queue = np.empty(most, dtype=np.int64)
    for g in range(node_starts.size - 1):
        begin = node_starts[g]
        n = node_starts[g + 1] - begin
        for source in range(n):
            row = out[pair_starts[g] + source * n : pair_starts[g] + (source + 1) * n]
            row[:] = np.inf
            row[source] = 0.0
            queue[0] = source
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                for k in range(out_starts[begin + node], out_starts[begin + node + 1]):
                    other = out_nodes[k] - begin
                    if row[other] == np.inf:
                        row[other] = row[node] + 1.0
                        queue[tail] = other
                        tail += 1


@compiled
def path_rows(
    node_starts: np.ndarray,
    pair_starts: np.ndarray,
    distances: np.ndarray,
    bits: np.ndarray,
    colours: np.ndarray,
    rows: np.ndarray,
    owner: np.ndarray,
) -> int:
    """Write (colour, colour, bits of the distance) of all ordered pairs with a path; return their number."""
    at = 0
    for g in range(node_starts.size - 1):
        begin = node_starts[g]
        n = node_starts[g + 1] - begin
        for u in range(n):
            for v in range(n):
                k = pair_starts[g] + u * n + v
                if u != v and distances[k] < np.inf:
                    rows[at, 0] = colours[begin + u]
                    rows[at, 1] = colours[begin + v]
                    rows[at, 2] = bits[k]
                    owner[at] = g
                    at += 1
    return at


@compiled
def number_paths(
    node_starts: np.ndarray,
    pair_starts: np.ndarray,
    distances: np.ndarray,
    bits: np.ndarray,
    colours: np.ndarray,
    n_colours: int,
    longest: int,
    slots: np.ndarray,
    rows: np.ndarray,
    numbers: np.ndarray,
    owner: np.ndarray,
) -> tuple[int, int]:
    """Do what `path_rows` and `number_rows` do where all distances are whole numbers of steps.

    ``slots[(u n_colours + v) (longest + 1) + steps]`` is the number of a row, -1 before it has one; the
    different rows are written to ``rows``. Return how many of these there are, and how many pairs.
    """
    found, at = 0, 0
    for g in range(node_starts.size - 1):
        begin = node_starts[g]
        n = node_starts[g + 1] - begin
        for u in range(n):
            first = colours[begin + u] * n_colours
            for v in range(n):
                k = pair_starts[g] + u * n + v
                if u != v and distances[k] < np.inf:
                    slot = (first + colours[begin + v]) * (longest + 1) + np.int64(distances[k])
                    number = slots[slot]
                    if number < 0:
                        number = slots[slot] = found
                        rows[found, 0] = colours[begin + u]
                        rows[found, 1] = colours[begin + v]
                        rows[found, 2] = bits[k]
                        found += 1
                    numbers[at] = number
                    owner[at] = g
                    at += 1
    return found, at


@compiled
def count_rows(
    owner: np.ndarray, columns: np.ndarray, width: int, starts: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Count how often each column occurs with each owner: a sparse matrix by rows, in unsorted order.

    ``starts`` (as many as there are rows, and one) and ``counts`` (as many as there are entries) are filled.
    Return the columns of the counts; what is behind ``starts[-1]`` is unused.
    """
    n = starts.size - 1
    places = np.zeros(n + 1, dtype=np.int64)
    for k in range(owner.size):
        places[owner[k] + 1] += 1
    for row in range(n):
        places[row + 1] += places[row]
    ends = places.copy()
    grouped = np.empty(columns.size, dtype=np.int64)
    for k in range(owner.size):
        grouped[ends[owner[k]]] = columns[k]
        ends[owner[k]] += 1
    seen = np.full(width, -1, dtype=np.int64)  # where a column's count is, if it belongs to this row
    at = 0
    for row in range(n):
        starts[row] = at
        begin = at
        for k in range(places[row], places[row + 1]):
            column = grouped[k]
            if seen[column] < begin:
                seen[column] = at
                counts[at] = 0.0
                grouped[at] = column  # at <= k: what stood there was read
                at += 1
            counts[seen[column]] += 1.0
    starts[n] = at
    return grouped
