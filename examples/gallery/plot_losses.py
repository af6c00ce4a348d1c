"""
Loss functions
==============

Losses of a margin y f(x) and of a residual y - f(x). The support vector losses are flat where the prediction
is good enough: points there have no part in the solution. What each loss estimates,
given enough data, follows from its minimiser over the population.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import losses

BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "ncols": 2, "frameon": False}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#777777")

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
margin = np.linspace(-3.0, 3.0, 400)
for loss, colour in zip(
    (losses.Hinge(), losses.BinomialDeviance(), losses.HuberizedSquaredHinge(), losses.SquaredError(),
     losses.PerceptronLoss()),
    COLOURS,
):  # fmt: skip
    value, style = loss.value(np.ones_like(margin), margin), "--" if loss == losses.SquaredError() else "-"
    # Scaled so that the left tails have the slope -1 of the hinge; least squares have no such tail.
    slope = getattr(loss, "tail_slope", -np.inf)
    value = value / -slope if np.isfinite(slope) else value / 4.0
    axes[0].plot(margin, value, style, color=colour, label=type(loss).__name__)
axes[0].set(xlabel="margin y f", ylabel="loss", ylim=(-0.1, 4.0), title="for classes")
axes[0].legend(**BELOW)

residual = np.linspace(-4.0, 4.0, 400)
for loss, colour in zip(
    (losses.EpsilonInsensitive(1.0), losses.Huber(1.0), losses.SquaredError(), losses.Pinball(0.8)), COLOURS
):
    axes[1].plot(residual, loss.value(residual, np.zeros_like(residual)), color=colour, label=repr(loss))
axes[1].set(xlabel="residual y - f", ylim=(-0.1, 6.0), title="for numbers")
axes[1].legend(**BELOW)
plt.show()

# %%
# What is estimated where the second class has probability 0.8: the deviance and the Huberised squared hinge
# tell the probability, the hinge only which class is likelier.
for loss in (
    losses.BinomialDeviance(),
    losses.SquaredError(),
    losses.HuberizedSquaredHinge(),
    losses.Hinge(),
):
    print(f"{type(loss).__name__:24s} {loss.population_minimiser(0.8):6.3f}")
