"""The mean of the logistic function of a normal variable: an integral without a closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtr

from mercer.arrays import Float64

STEP = 0.4
WIDE = 40.0  # where the logistic density is lost in rounding
NARROW = 9.0  # where the normal density is
CHUNK = 1 << 12  # points looked at together


def logistic_normal_mean(mean: Float64, variance: Float64) -> Float64:
    r"""Return :math:`\int \sigma(f) \, N(f; \mu, s^2) \, df` to nearly all digits.

    The trapezoidal rule converges geometrically for analytic functions, at a rate that is given by the
    distance of the nearest pole to the real line. For s <= 1 it is applied to the integral itself, over
    :math:`z = (f - \mu) / s`, whose poles are :math:`\pi / s` away. For s > 1 the integral is the probability
    that :math:`\mu + s z` exceeds a logistic variable u,

    .. math:: \int \Phi\left(\frac{\mu + u}{s}\right) \sigma(u) \sigma(-u) \, du,

    whose poles are :math:`\pi` away.

    Parameters
    ----------
    mean, variance : (n,) array
        Of the normal variables; a variance may be 0.

    Returns
    -------
    (n,) array
    """
    mean, spread = np.asarray(mean, dtype=np.float64), np.sqrt(np.maximum(variance, 0.0))
    out = np.empty(mean.shape)
    z = np.arange(-NARROW, NARROW + STEP / 2, STEP)
    normal = STEP * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    u = np.arange(-WIDE, WIDE + STEP / 2, STEP)
    logistic = STEP * expit(u) * expit(-u)
    for start in range(0, mean.size, CHUNK):
        part = slice(start, start + CHUNK)
        m, s = mean[part], spread[part]
        small = s <= 1.0
        value = np.empty(m.shape)
        value[small] = expit(m[small, None] + s[small, None] * z) @ normal
        value[~small] = ndtr((m[~small, None] + u) / s[~small, None]) @ logistic
        out[part] = value
    return out
