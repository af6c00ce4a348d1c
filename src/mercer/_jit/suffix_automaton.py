"""All common substrings of two sequences, in time linear in their lengths: a suffix automaton of the one."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled

SYMBOLS = 1 << 16  # codes of letters that are looked up in a table
ROOM = 1 << 17  # entries of a table of states and letters


@compiled(inner=True)
def _step(
    state: int,
    symbol: int,
    first: np.ndarray,
    following: np.ndarray,
    symbols: np.ndarray,
    targets: np.ndarray,
) -> int:
    """Return the edge of a state by a symbol, -1 without."""
    edge = first[state]
    while edge >= 0 and symbols[edge] != symbol:
        edge = following[edge]
    return edge  # type: ignore[no-any-return]


@compiled(inner=True)
def _build(
    codes: np.ndarray,
    start: int,
    stop: int,
    length: np.ndarray,
    link: np.ndarray,
    count: np.ndarray,
    first: np.ndarray,
    following: np.ndarray,
    symbols: np.ndarray,
    targets: np.ndarray,
) -> int:
    """Build the automaton of codes[start:stop]; return its number of states."""
    length[0] = 0
    link[0] = -1
    count[0] = 0
    first[0] = -1
    states = 1
    edges = 0
    last = 0
    for position in range(start, stop):
        symbol = codes[position]
        new = states
        states += 1
        length[new] = length[last] + 1
        count[new] = 1
        first[new] = -1
        p = last
        edge = _step(p, symbol, first, following, symbols, targets)
        while p >= 0 and edge < 0:
            symbols[edges] = symbol
            targets[edges] = new
            following[edges] = first[p]
            first[p] = edges
            edges += 1
            p = link[p]
            if p >= 0:
                edge = _step(p, symbol, first, following, symbols, targets)
        if p < 0:
            link[new] = 0
        else:
            q = targets[edge]
            if length[q] == length[p] + 1:
                link[new] = q
            else:
                clone = states
                states += 1
                length[clone] = length[p] + 1
                link[clone] = link[q]
                count[clone] = 0
                first[clone] = -1
                e = first[q]
                while e >= 0:
                    symbols[edges] = symbols[e]
                    targets[edges] = targets[e]
                    following[edges] = first[clone]
                    first[clone] = edges
                    edges += 1
                    e = following[e]
                while p >= 0 and edge >= 0 and targets[edge] == q:
                    targets[edge] = clone
                    p = link[p]
                    if p >= 0:
                        edge = _step(p, symbol, first, following, symbols, targets)
                link[q] = clone
                link[new] = clone
        last = new
    return states


@compiled(inner=True)
def _letters(codes: np.ndarray, numbers: np.ndarray) -> int:
    """Give the symbols that occur numbers from 0 on, all others -1; return how many there are.

    ``numbers`` has an entry for each symbol below some number; the result is -1 if there are symbols beyond.
    """
    numbers[:] = -1
    found = 0
    for k in range(codes.size):
        symbol = codes[k]
        if symbol < 0 or symbol >= numbers.size:
            return -1
        if numbers[symbol] < 0:
            numbers[symbol] = found
            found += 1
    return found


@compiled(inner=True)
def _tabulate(
    letters: int,
    numbers: np.ndarray,
    states: int,
    order: np.ndarray,
    length: np.ndarray,
    link: np.ndarray,
    first: np.ndarray,
    following: np.ndarray,
    symbols: np.ndarray,
    targets: np.ndarray,
    goes: np.ndarray,
    keeps: np.ndarray,
) -> None:
    """Write where each state goes by each letter, and how many symbols at most are still matched before it.

    A state without an edge does what the longest suffix that has one does; where there is none, -1 are kept.
    """
    goes[:letters] = 0
    keeps[:letters] = -1
    for t in range(states):
        s = order[t]
        if t > 0:
            below = link[s]
            for a in range(letters):
                goes[s * letters + a] = goes[below * letters + a]
                keeps[s * letters + a] = keeps[below * letters + a]
        edge = first[s]
        while edge >= 0:
            at = s * letters + numbers[symbols[edge]]
            goes[at] = targets[edge]
            keeps[at] = length[s]
            edge = following[edge]


@compiled(inner=True)
def _walk(
    codes: np.ndarray,
    start: int,
    stop: int,
    letters: int,
    numbers: np.ndarray,
    goes: np.ndarray,
    keeps: np.ndarray,
    base: np.ndarray,
    factor: np.ndarray,
    weights: np.ndarray,
) -> float:
    """Return the sum for one sequence, by the tables of the automaton of another."""
    total = 0.0
    state, matched = 0, 0
    for position in range(start, stop):
        symbol = codes[position]
        letter = numbers[symbol] if 0 <= symbol < numbers.size else -1
        if letter < 0:
            state, matched = 0, 0
            continue
        at = state * letters + letter
        matched = min(matched, keeps[at]) + 1
        state = goes[at]
        total += base[state] + factor[state] * weights[matched]
    return total


@compiled
def common_substrings(
    codes: np.ndarray,
    starts: np.ndarray,
    other: np.ndarray,
    other_starts: np.ndarray,
    weights: np.ndarray,
    symmetric: bool,
    out: np.ndarray,
) -> None:
    """Fill ``out`` with the sum over all substrings u of w(|u|) count(u in one) count(u in other).

    ``weights[l]`` is w(1) + ... + w(l), for all lengths that may occur.
    """
    longest = 0
    for i in range(starts.size - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    most = 2 * longest + 2
    length = np.empty(most, dtype=np.int64)
    link = np.empty(most, dtype=np.int64)
    count = np.empty(most, dtype=np.int64)
    first = np.empty(most, dtype=np.int64)
    following = np.empty(4 * most, dtype=np.int64)  # a suffix automaton has at most 3 n - 4 edges
    symbols = np.empty(4 * most, dtype=np.int64)
    targets = np.empty(4 * most, dtype=np.int64)
    value = np.empty(most)
    order = np.empty(most, dtype=np.int64)
    bucket = np.empty(longest + 2, dtype=np.int64)
    # With few letters, tables say where a state goes: no list of edges is searched.
    numbers = np.empty(SYMBOLS, dtype=np.int64)
    letters = _letters(codes, numbers)
    if letters * most > ROOM:
        letters = -1
    goes = np.empty(max(0, letters) * most, dtype=np.int64)
    keeps = np.empty(goes.size, dtype=np.int64)
    base, factor = np.empty(most), np.empty(most)
    for i in range(starts.size - 1):
        states = _build(
            codes, starts[i], starts[i + 1], length, link, count, first, following, symbols, targets
        )
        n = starts[i + 1] - starts[i]
        bucket[: n + 2] = 0  # states in the order of their lengths
        for s in range(states):
            bucket[length[s] + 1] += 1
        for s in range(n + 1):
            bucket[s + 1] += bucket[s]
        for s in range(states):
            order[bucket[length[s]]] = s
            bucket[length[s]] += 1
        for t in range(states - 1, 0, -1):
            count[link[order[t]]] += count[order[t]]
        value[0] = 0.0
        for t in range(1, states):
            s = order[t]
            value[s] = value[link[s]] + count[s] * (weights[length[s]] - weights[length[link[s]]])
        if letters > 0:
            _tabulate(
                letters, numbers, states, order, length, link, first, following, symbols, targets, goes, keeps
            )
            base[0] = factor[0] = 0.0
            for s in range(1, states):
                factor[s] = count[s]
                base[s] = value[link[s]] - factor[s] * weights[length[link[s]]]
        for j in range(i if symmetric else 0, other_starts.size - 1):
            total = 0.0
            if letters > 0:
                out[i, j] = _walk(
                    other,
                    other_starts[j],
                    other_starts[j + 1],
                    letters,
                    numbers,
                    goes,
                    keeps,
                    base,
                    factor,
                    weights,
                )
                if symmetric:
                    out[j, i] = out[i, j]
                continue
            state = 0
            matched = 0
            for position in range(other_starts[j], other_starts[j + 1]):
                symbol = other[position]
                edge = _step(state, symbol, first, following, symbols, targets)
                while state > 0 and edge < 0:
                    state = link[state]
                    matched = length[state]
                    edge = _step(state, symbol, first, following, symbols, targets)
                if edge >= 0:
                    state = targets[edge]
                    matched += 1
                if state > 0:
                    below = link[state]
                    total += value[below] + count[state] * (weights[matched] - weights[length[below]])
            out[i, j] = total
            if symmetric:
                out[j, i] = total
