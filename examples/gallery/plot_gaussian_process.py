"""
Error bars of a Gaussian process
================================

Ridge regression gives a curve. A Gaussian process with the same kernel gives the same curve and its
uncertainty: the bands narrow where there are data and widen where there are none. The inner band is for the
curve, the outer one for a new observation: curve and noise. The process chooses width, amplitude and noise by
maximising the evidence, shown on the right as a function of two of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import RBF

rng = np.random.default_rng(4)
x = np.sort(np.r_[rng.uniform(0.0, 3.0, 18), rng.uniform(6.0, 9.0, 14)])[:, None]
y = np.sin(1.5 * x[:, 0]) + 0.25 * rng.normal(size=len(x))

model = mercer.GaussianProcessRegressor(
    kernel=1.0 * RBF(gamma=1.0), noise="auto", n_restarts_optimizer=2, random_state=0
)
model.fit(x, y)
line = np.linspace(-1.0, 11.0, 400)[:, None]
mean, std = model.predict(line, return_std=True)
_, wide = model.predict(line, return_std=True, noise=True)

# %%
# The mean is what ridge regression finds with a penalty equal to the variance of the noise.

ridge = mercer.KernelRidge(kernel=model.kernel_, alpha=model.noise_).fit(x, y)
assert np.allclose(ridge.predict(line), mean)

# %%
# Functions drawn from the posterior agree where there are data and differ elsewhere. The evidence often has a
# second maximum far away, where everything is noise: hence the restarts.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[1.7, 1.0], layout="constrained")
for deviation, words in ((wide, "new observations, 95 %"), (std, "the curve, 95 %")):
    ends = mean - 1.96 * deviation, mean + 1.96 * deviation
    left.fill_between(line[:, 0], *ends, color="tab:blue", alpha=0.15, lw=0, label=words)
left.plot(line[:, 0], model.sample_y(line, 4, random_state=2), color="tab:blue", lw=0.7, alpha=0.6)
left.plot(line[:, 0], mean, color="tab:blue", lw=2, label="mean, and four samples")
left.plot(line[:, 0], np.sin(1.5 * line[:, 0]), "k--", lw=1, label="truth")
left.plot(x[:, 0], y, "k.", label="data")
left.set(xlim=(-1, 11), xlabel="x", title=f"deviation of the noise: {np.sqrt(model.noise_):.2f} (true: 0.25)")
left.legend(loc="lower center", bbox_to_anchor=(0.5, -0.28), ncols=3, frameon=False, fontsize="small")

widths, noises = np.linspace(-1.5, 1.5, 40), np.linspace(-5.5, 1.0, 40)  # logarithms
amplitude = model.theta_[model.hyperparameters_.index("scale")]
evidence = np.array(
    [
        [model.log_marginal_likelihood([-2 * w - np.log(2), amplitude, noise]) for w in widths]
        for noise in noises
    ]
)
levels = evidence.max() - np.array([40, 25, 15, 9, 5, 3, 2, 1, 0.3])
right.contour(np.exp(widths), np.exp(noises / 2), evidence, levels=levels, cmap="viridis")
best = model.kernel_.get_params()["kernel__gamma"]
right.plot(np.sqrt(0.5 / best), np.sqrt(model.noise_), "r+", ms=12, mew=2)
right.set(
    xscale="log",
    yscale="log",
    xlabel="width of the kernel",
    ylabel="standard deviation of the noise",
    title="log evidence",
)
right.set_xticks([0.3, 1.0, 3.0], ["0.3", "1", "3"])
right.minorticks_off()
plt.show()
