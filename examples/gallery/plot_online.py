"""
Online learning
===============

Perceptrons, the kernel adatron and online regression see one example at a time: they predict, observe the
true value, and update only after a loss. The curves show the cumulative loss.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import RBF

rng = np.random.default_rng(0)


def draw(n):
    """Two classes on opposite quadrants, with a gap between them."""
    X = rng.uniform(-2.0, 2.0, size=(n, 2))
    X += 0.1 * np.sign(X)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


X, y = draw(2000)

# %%
# A linear classifier keeps making mistakes. With a kernel they become rare; a budget of 30 examples bounds
# the memory and costs some.
models = {
    "Perceptron": mercer.Perceptron(radius=3.2),
    "KernelPerceptron": mercer.KernelPerceptron(kernel=RBF(0.5)),
    "KernelPerceptron, budget 30": mercer.KernelPerceptron(kernel=RBF(0.5), budget=30),
    "KernelAdatron": mercer.KernelAdatron(kernel=RBF(0.5), C=10.0),
}
for model in models.values():
    model.partial_fit(X, y, classes=[0, 1])

figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained")
curves = {name: model for name, model in models.items() if name != "Perceptron"}
mercer.plots.cumulative_loss(curves, ax=axes[0])
axes[0].legend(fontsize=8, frameon=False, loc="upper left")
axes[0].set_title("Mistakes on the way", fontsize=10)
shown = {"ax": axes[1], "title": "What was learned", "margins": False, "support": False}
mercer.plots.decision_regions(models["KernelPerceptron"], X[:300], y[:300], **shown)
plt.show()

# %%
# Novikoff's theorem bounds the mistakes on separable examples, however many there are and in whatever order
# they come. The bound is far above the count, as bounds for the worst order are.
learned = models["KernelPerceptron"]
print(f"{models['Perceptron'].mistakes_} mistakes of the straight line in {learned.t_} steps")
print(f"{learned.mistakes_} mistakes with the kernel, at most {learned.novikoff(X, y):.0f} allowed")

# %%
# A drifting target: the loss jumps, and flattens again once the function has adapted. A budget that drops the
# oldest examples needs 150 of them; the rule of Widrow and Hoff stores all.
t = np.arange(3000)
x = rng.uniform(-3.0, 3.0, size=(3000, 1))
target = np.where(t < 1500, np.sin(x[:, 0]), np.cos(x[:, 0])) + 0.1 * rng.normal(size=3000)
bounded = mercer.OnlineSVR(kernel=RBF(1.0), epsilon=0.2, C=2.0, budget=150, removal="oldest")
unbounded = mercer.KernelWidrowHoff(kernel=RBF(1.0), learning_rate=0.1, alpha=0.5)
bounded.partial_fit(x, target)
unbounded.partial_fit(x, target)

grid = np.linspace(-3.0, 3.0, 200)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained")
axes[0].scatter(x[-400:], target[-400:], s=4, color="#999999", label="the last 400 examples")
axes[0].plot(grid, np.cos(grid), color="black", linewidth=1.0, label="what is true now")
axes[0].plot(grid, bounded.predict(grid), color="#0072B2", label=f"OnlineSVR, {bounded.n_support_} kept")
axes[0].plot(
    grid, unbounded.predict(grid), "--", color="#D55E00", label=f"Widrow-Hoff, {unbounded.n_support_} kept"
)
axes[0].set_ylim(-1.6, 2.2)
axes[0].legend(fontsize=8, frameon=False, loc="upper left", ncols=2)
axes[0].set_title("After the change", fontsize=10)
steps, losses, _ = bounded.loss_curve_.T
axes[1].plot(steps, losses, color="#0072B2")
axes[1].axvline(1500, color="#999999", linestyle=":")
axes[1].annotate("the truth changes", (1500, 0.0), (1540, 5.0), fontsize=8, color="#555555")
axes[1].set(xlabel="examples seen", ylabel="loss so far", xlim=(0, 3000))
axes[1].set_title("Loss of OnlineSVR", fontsize=10)
axes[1].spines[["top", "right"]].set_visible(False)
plt.show()
