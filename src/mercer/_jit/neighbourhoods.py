"""Words that differ from given words in at most m places."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import compiled


@compiled
def neighbours(
    words: np.ndarray, size: int, most: int, weight_of_place: np.ndarray, out: np.ndarray
) -> np.ndarray:
    """Write the codes of all words over ``size`` letters within ``most`` mismatches of each given word.

    Parameters
    ----------
    words : (n, k) int64
        Letters 0 to size - 1; -1 is a letter that no neighbour has.
    size : int
        Of the alphabet.
    most : int
        Mismatches allowed.
    weight_of_place : (k,) int64
        A word's code is the sum of its letters times these.
    out : (n, most neighbours of a word) int64
        Filled from the left; the rest is -1.

    Returns
    -------
    counts : (n,) int64
        Neighbours of each word.
    """
    n, k = words.shape
    counts = np.zeros(n, dtype=np.int64)
    letters = np.empty(k, dtype=np.int64)  # of the word at hand
    used = np.empty(k + 1, dtype=np.int64)  # mismatches before each place
    for i in range(n):
        place = 0
        letters[0] = -1
        used[0] = 0
        found = 0
        while place >= 0:
            letters[place] += 1
            if letters[place] == size:
                place -= 1
                continue
            mismatches = used[place] + (letters[place] != words[i, place])
            if mismatches > most:
                # With all mismatches used up, only the word's own letter is left.
                if letters[place] < words[i, place]:
                    letters[place] = words[i, place] - 1
                else:
                    place -= 1
                continue
            if place == k - 1:
                code = 0
                for j in range(k):
                    code += letters[j] * weight_of_place[j]
                out[i, found] = code
                found += 1
                continue
            used[place + 1] = mismatches
            place += 1
            letters[place] = -1
        counts[i] = found
        for t in range(found, out.shape[1]):
            out[i, t] = -1
    return counts
