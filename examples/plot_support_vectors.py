r"""
Support vectors and the margin
==============================

A support vector machine looks for the function of the kernel's space with the widest margin,
and lets points fall short of it at a cost:

.. math:: \tfrac12 \|f\|^2 + C \sum_i \max(0, 1 - y_i (f(x_i) + b)).

:doc:`/support_vectors` derives what is drawn here.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

import mercer as mc
from mercer.plots import DecisionDisplay

chance = np.random.default_rng(0)
y = np.repeat([1, -1], 30)
X = chance.standard_normal((60, 2)) + y[:, None] * [1.0, 0.5]

# %%
# Three kinds of points
# ---------------------
#
# On the solid line :math:`f(x) + b` is 0, on the dashed ones 1 and -1: the margin lies between
# them. Points beyond it have no coefficient, and could be left out. Circled ones are free
# support vectors, on the margin, with :math:`0 < \alpha_i < C`. Squares mark bounded ones,
# inside it or on the wrong side, with :math:`\alpha_i = C`.

model = mc.SVC(C=2.0, kernel=mc.Gaussian(scale=1.0)).fit(X, y)
figure, axes = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
shown = DecisionDisplay.from_estimator(model, X, y, ax=axes)

margins = y * model.decision_function(X)
needed = np.isin(np.arange(60), model.support_)
at_bound = model.support_[abs(model.dual_coef_[0]) == 2.0]
assert (margins[~needed] > 1 - model.tol).all()
assert (np.sort(shown.bounded) == np.sort(at_bound)).all()
plt.show()

# %%
# What C and the scale do
# -----------------------
#
# To the right errors cost more: the margin gets narrower, and fewer points support it.
# Downwards each point is heard further, and the border gets straighter. On the left all points
# are bounded, and have the same weight: a vote of all. On the top right the border goes round
# single points.

WIDTHS, COSTS = (0.3, 1.0, 4.0), (0.05, 2.0, 100.0)
COLOURS = {-1: "#0072b2", 1: "#d55e00"}
AREAS = ("#9fcae3", "#e3eff6", "#fcebdf", "#f3c09a")


def draw(axes, model, X):
    """The border, the margin, and the points by their kind."""
    axes.set(aspect="equal", xticks=[], yticks=[])
    side = np.linspace(X.min() - 0.4, X.max() + 0.4, 141)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    f = model.decision_function(grid).reshape(141, 141)
    axes.contourf(side, side, f, levels=[-1e9, -1, 0, 1, 1e9], colors=AREAS)
    axes.contour(side, side, f, levels=[0], colors="black", linewidths=1.2)
    axes.contour(side, side, f, levels=[-1, 1], colors="black", linewidths=0.6, linestyles="--")
    bounded = abs(model.dual_coef_[0]) == model.C
    for label, colour in COLOURS.items():
        axes.plot(*X[y == label].T, ".", color=colour, markersize=5, label=f"class {label}")
    for chosen, marker, kind in ((~bounded, "o", "free"), (bounded, "s", "bounded")):
        ring = {"markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 0.7}
        if chosen.any():
            rows = model.support_[chosen]
            axes.plot(*X[rows].T, marker, markersize=7, label=f"{kind} support vectors", **ring)


figure, table = plt.subplots(3, 3, figsize=(8.4, 9.2), layout="constrained")
counts = np.zeros((3, 3), dtype=int)
for i, scale in enumerate(WIDTHS):
    for j, C in enumerate(COSTS):
        model = mc.SVC(C=C, kernel=mc.Gaussian(scale=scale)).fit(X, y)
        counts[i, j] = len(model.support_)
        draw(table[i, j], model, X)
        wrong = (model.predict(X) != y).sum()
        table[i, j].set_xlabel(f"{counts[i, j]} support vectors, {wrong} wrong")
    table[i, 0].set_ylabel(f"scale {scale:g}")
for axes, C in zip(table[0], COSTS, strict=True):
    axes.set_title(f"$C = {C:g}$")
figure.legend(*table[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
assert (np.diff(counts, axis=1) < 0).all()
assert (counts[:, 0] == 60).all()
plt.show()

# %%
# The hard margin
# ---------------
#
# With :math:`C = \infty` no point may fall short. The border is halfway between the nearest
# points of the two convex hulls, and the coefficients say which points these are: divided by
# their sum, the weights of two barycentres. With the linear kernel the hulls are polygons. With
# a Gaussian they are in a space of infinitely many dimensions, where those of distinct points
# never meet; in the plane the same border winds between the points.

apart = X + y[:, None] * [1.5, 0.0]
line = mc.SVC(C=np.inf, kernel="linear").fit(apart, y)
weights = line.dual_coef_[0] / line.dual_coef_[0].clip(min=0).sum()
blue, orange = (
    abs(weights[mine]) @ line.support_vectors_[mine] for mine in (weights < 0, weights > 0)
)
assert np.isclose(np.linalg.norm(orange - blue) / 2, 1 / line.function_.norm())
assert np.allclose(line.decision_function([blue, orange]), [-1, 1])

figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.6), layout="constrained")
draw(left, line, apart)
for label, colour in COLOURS.items():
    mine = apart[y == label]
    around = mine[ConvexHull(mine).vertices]
    left.fill(*around.T, facecolor="none", edgecolor=colour, linewidth=1)
left.plot(*np.stack([blue, orange]).T, "k-", linewidth=2, label="nearest points")
left.set_title("linear: the hulls are polygons", fontsize=10)

curved = mc.SVC(C=np.inf, kernel=mc.Gaussian(scale=0.7)).fit(X, y)
draw(right, curved, X)
right.set_title("Gaussian: classes that overlap in the plane", fontsize=10)
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
assert (curved.predict(X) == y).all()
plt.show()

# %%
# Overlapping classes have no margin in the plane, as their hulls have a point in common. The
# error carries the proof: two sets of weights with one barycentre. Here that is a point of one
# class, and lines lead to the points of the other that it is a mean of: the thicker, the more
# weight.

try:
    mc.SVC(C=np.inf, kernel="linear").fit(X, y)
except mc.errors.NotSeparable as error:
    weights = error.certificate
common = weights[y > 0] @ X[y > 0]
assert np.allclose(common, weights[y < 0] @ X[y < 0], atol=1e-6)

figure, axes = plt.subplots(figsize=(4.8, 4.0), layout="constrained")
for label, colour in COLOURS.items():
    mine = y == label
    around = X[mine][ConvexHull(X[mine]).vertices]
    axes.plot(*X[mine].T, ".", color=colour, markersize=5, label=f"class {label}")
    axes.fill(*around.T, facecolor="none", edgecolor=colour, linewidth=1)
    for row in np.flatnonzero(mine & (weights > 1e-9)):
        axes.plot(*np.stack([X[row], common]).T, color=colour, linewidth=3 * weights[row] + 0.5)
axes.plot(*common, "k*", markersize=11, label="in both hulls")
axes.set(aspect="equal", xticks=[], yticks=[])
axes.legend(fontsize=8)
plt.show()
