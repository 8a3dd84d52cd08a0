r"""
Kernel PCA: rings that come apart
=================================

Principal components are directions of large variance. Among the directions of the plane none
tells two rings apart. In the space of a Gaussian kernel one does: it is a function of the
points, and is large on one ring and small on the other.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.plots import ComponentsDisplay, SpectrumDisplay

chance = np.random.default_rng(0)
turn = chance.uniform(0, 2 * np.pi, size=240)
radius = np.repeat([0.5, 1.5], 120)
X = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
X += 0.07 * chance.standard_normal(X.shape)
ring = np.repeat(["inner", "outer"], 120)

linear = mc.KernelPCA(2, mc.Linear()).fit(X)
curved = mc.KernelPCA(3, mc.Gaussian(scale=0.5)).fit(X)

# %%
# With the linear kernel it is PCA: the picture is the data, turned. With a Gaussian the first
# component alone separates the rings.

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
ComponentsDisplay.from_estimator(linear, X, ring, ax=left)
ComponentsDisplay.from_estimator(curved, X, ring, ax=right)
plt.show()

first = curved.transform(X)[:, 0]
inner, outer = first[ring == "inner"], first[ring == "outer"]
assert inner.min() > outer.max() or outer.min() > inner.max()

# %%
# The components are functions of the space, of norm one and orthogonal. As such they have
# values at every point of the plane.

gram = curved.functions_ @ curved.functions_
assert np.allclose(gram, np.eye(3))

side = np.linspace(-2, 2, 101)
grid = np.stack([part.ravel() for part in np.meshgrid(side, side)], axis=1)
values = curved.transform(grid)
figure, row = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained", sharey=True)
for number, axes in enumerate(row):
    field = values[:, number].reshape(101, 101)
    top = abs(field).max()
    axes.contourf(side, side, field, levels=20, cmap="RdBu_r", vmin=-top, vmax=top)
    axes.plot(*X.T, ".", color="black", markersize=1.5)
    axes.set(title=f"component {number + 1}", xlabel="$x_1$", aspect="equal")
row[0].set_ylabel("$x_2$")
plt.show()

# %%
# How many components are worth a look is read off the spectrum. The centred Gram matrix of a
# smooth kernel has few large eigenvalues; below the dashed line they are rounding.

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
SpectrumDisplay.from_kernel(mc.Gaussian(scale=0.5), X, centred=True, ax=left)
SpectrumDisplay.from_kernel(mc.Laplacian(scale=0.5), X, centred=True, ax=right)
plt.show()
