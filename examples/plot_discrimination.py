r"""
Which of two sets is nearer
===========================

Two sets give a classifier: take the set whose barycentre is nearer in feature space. Its
decision function is

.. math:: f(x) = d(x, S_1)^2 - d(x, S_2)^2,

negative where :math:`S_1` is nearer. With the linear kernel the boundary :math:`f = 0` is the
straight line halfway between the two means. With a Gaussian it bends around the points, the
more so the smaller the scale.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

S1 = np.array([[1.0, 1.0], [1.0, 2.0]])
S2 = np.array([[1.0, 3.0], [2.0, 2.0]])
kernels = {
    "linear": mc.Linear(),
    r"Gaussian, $\sigma = 1$": mc.Gaussian(scale=1.0),
    r"Gaussian, $\sigma = 0.2$": mc.Gaussian(scale=0.2),
}


def contrast(k, X):
    return mc.distance_to_set(k, X, S1) ** 2 - mc.distance_to_set(k, X, S2) ** 2


for k in kernels.values():
    assert (contrast(k, S1) < 0).all()
    assert (contrast(k, S2) > 0).all()

# %%
# Circles are :math:`S_1`, squares are :math:`S_2`, and the black line is the boundary. Far from
# all points, a Gaussian leaves only the norms of the two barycentres: the points of
# :math:`S_1` are the closer pair, their barycentre is the longer, and by a hair all the rest of
# the plane is nearer to :math:`S_2`.

side = np.linspace(-0.5, 4, 181)
grid = np.stack(np.meshgrid(side, side), axis=-1)

figure, row = plt.subplots(1, 3, figsize=(8.4, 3.4), layout="constrained", sharey=True)
for axes, (name, k) in zip(row, kernels.items(), strict=True):
    f = contrast(k, grid.reshape(-1, 2)).reshape(grid.shape[:2])
    top = abs(f).max()
    levels = np.linspace(-top, top, 22)  # an even number: none of them is zero
    field = axes.contourf(side, side, f, levels=levels, cmap="PuOr")
    axes.contour(side, side, f, levels=[0], colors="black", linewidths=1.5)
    axes.plot(*S1.T, "o", color="white", markeredgecolor="black", label="$S_1$")
    axes.plot(*S2.T, "s", color="white", markeredgecolor="black", label="$S_2$")
    axes.set(title=name, xlabel="$x_1$", aspect="equal", xticks=range(5), yticks=range(5))
    ticks = [-round(top * 0.8, 1), 0, round(top * 0.8, 1)]
    figure.colorbar(field, ax=axes, location="bottom", label="$f(x)$", ticks=ticks)
row[0].set_ylabel("$x_2$")
row[0].legend(loc="lower right", framealpha=0.9)
plt.show()
