"""Small files and numbers for the tests of readers."""

import numpy as np


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def random_floats(n, seed=0):
    bits = np.random.default_rng(seed).integers(0, 2**63, n).view(np.float64)
    return bits[np.isfinite(bits)].tolist()
