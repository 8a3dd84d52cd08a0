r"""
The distance from a point to a set
==================================

A set :math:`S` has a barycentre :math:`\mu` in feature space, and a point is at the distance
:math:`d(x, S) = \| K_x - \mu \|_H` from it. For the linear kernel the barycentre is the mean,
and the set is forgotten. For a Gaussian the barycentre keeps more: with a scale that is small
against the gaps, it remembers every point.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

kernels = {
    "linear": mc.Linear(),
    r"Gaussian, $\sigma = 1$": mc.Gaussian(scale=1.0),
    r"Gaussian, $\sigma = 0.2$": mc.Gaussian(scale=0.2),
}

# %%
# On the line, :math:`S = \{2, 3\}`
# ---------------------------------
#
# The linear distance is :math:`|x - 2.5|`.

S = np.array([[2.0], [3.0]])
x = np.linspace(0, 5, 501)[:, None]

figure, row = plt.subplots(1, 3, figsize=(8.4, 2.9), layout="constrained")
for axes, (name, k) in zip(row, kernels.items(), strict=True):
    distance = mc.distance_to_set(k, x, S)
    axes.plot(x[:, 0], distance, color="#0072B2")
    axes.plot(S[:, 0], [0, 0], "o", color="#D55E00", clip_on=False, zorder=3)
    axes.set(title=name, xlabel="$x$", xlim=(0, 5), ylim=(0, None))
    if name == "linear":
        assert np.allclose(distance, abs(x[:, 0] - 2.5))
row[0].set_ylabel("$d(x, S)$")
plt.show()

# %%
# In the plane, :math:`S = \{(1, 1), (1, 2), (2, 2)\}`
# ----------------------------------------------------
#
# Lines join points at the same distance; darker is nearer.

S = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0]])
side = np.linspace(0, 3, 121)
grid = np.stack(np.meshgrid(side, side), axis=-1)

figure, row = plt.subplots(1, 3, figsize=(8.4, 3.3), layout="constrained", sharey=True)
for axes, (name, k) in zip(row, kernels.items(), strict=True):
    distance = mc.distance_to_set(k, grid.reshape(-1, 2), S).reshape(grid.shape[:2])
    field = axes.contourf(side, side, distance, levels=12, cmap="cividis")
    axes.contour(side, side, distance, levels=field.levels, colors="white", linewidths=0.4)
    axes.plot(*S.T, "o", color="white", markeredgecolor="black")
    axes.set(title=name, xlabel="$x_1$", aspect="equal", xticks=range(4), yticks=range(4))
    ticks = np.linspace(distance.min(), distance.max(), 4)
    figure.colorbar(
        field, ax=axes, location="bottom", label="$d(x, S)$", ticks=ticks, format="%.2f"
    )
row[0].set_ylabel("$x_2$")
plt.show()
