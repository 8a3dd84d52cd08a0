r"""
The smart nearest neighbour
===========================

Nearest neighbours, a soft vote of all points, and the support vector machine decide by one
formula,

.. math:: h(x) = \operatorname{sgn}\Bigl(\sum_i a_i\, y_i\, s(x_i, x) + b\Bigr),

where :math:`s` says how near :math:`x_i` is to :math:`x`, and :math:`a_i \ge 0` how much its
label counts.

==================  ==============================  ==================  ==============
..                  :math:`s(x_i, x)`               :math:`a_i`         :math:`b`
==================  ==============================  ==================  ==============
nearest neighbours  1 for the nearest ones, else 0  1                   0
soft neighbours     the kernel :math:`k(x_i, x)`    1                   0
barycentres         the kernel                      one over its class  from two norms
support vectors     the kernel                      learned, many 0     learned
==================  ==============================  ==================  ==============
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

COLOURS, PALE = {-1: "#0072b2", 1: "#d55e00"}, ("#d3e6f1", "#f9dfcc")
COUNT = 7  # the neighbours that vote


def moons(count, chance):
    """Two arcs that reach into each other, half of the points on each."""
    turn = np.pi * chance.random(count)
    y = np.repeat([-1, 1], count // 2)
    arcs = np.stack([np.cos(turn), np.sin(turn) - 0.25], axis=1) * -y[:, None]
    return arcs - 0.5 * y[:, None] * [1.0, 0.0] + 0.2 * chance.standard_normal((count, 2)), y


chance = np.random.default_rng(0)
X, y = moons(100, chance)
new, truth = moons(4000, chance)
k = mc.Gaussian(scale=0.5)


def nearest(points):
    """For each point a row: 1 for its nearest ones, else 0."""
    order = np.argsort(k.distance(points, X), axis=1)
    found = np.zeros(order.shape)
    np.put_along_axis(found, order[:, :COUNT], 1.0, axis=1)
    return found


def kernel(points):
    """For each point a row: how near all are, by the kernel."""
    return k(points, X)


svm = mc.SVC(C=1.0, kernel=k).fit(X, y)
learned = np.zeros(len(X))
learned[svm.support_] = abs(svm.dual_coef_[0])
same = np.ones(len(X))
ways = {
    f"{COUNT} nearest neighbours": (nearest, same, 0.0),
    "soft neighbours": (kernel, same, 0.0),
    "support vector machine": (kernel, learned, svm.intercept_[0]),
}


def decide(points, similarity, a, b):
    """The one formula, before its sign."""
    return similarity(points) @ (a * y) + b


# %%
# The machines of mercer decide by it. (Barycentres are the soft neighbours with another offset,
# as the classes have equally many points.)

voted = {name: decide(new, *way) for name, way in ways.items()}
hard, soft, smart = voted.values()
neighbours = mc.KernelNeighborsClassifier(k, COUNT).fit(X, y)
assert (neighbours.predict(new) == np.sign(hard)).all()
assert np.allclose(svm.decision_function(new), smart)

up, down = mc.barycenter(k, X[y > 0]), mc.barycenter(k, X[y < 0])
offset = len(X) / 2 * (down.norm() ** 2 - up.norm() ** 2) / 2
barycentres = mc.NearestBarycenter(k).fit(X, y)
assert (barycentres.predict(new) == np.sign(soft + offset)).all()

# %%
# Who is asked
# ------------
#
# The area of a point is its weight :math:`a_i`. The first two keep all points, and each counts
# alike. The support vector machine has kept those along the border, and dropped the others,
# drawn as dots: where all neighbours agree nobody has to be asked.

axis = np.linspace(-2.4, 2.4, 161)
grid = np.stack(np.meshgrid(axis, axis[30:-30]), axis=-1)
z = np.array([0.3, 0.2])

figure, row = plt.subplots(1, 3, figsize=(11.4, 3.1), layout="constrained")
for axes, (name, way) in zip(row, ways.items(), strict=True):
    f = decide(grid.reshape(-1, 2), *way).reshape(grid.shape[:2])
    axes.contourf(axis, axis[30:-30], f, levels=[-1e9, 0, 1e9], colors=PALE)
    axes.contour(axis, axis[30:-30], f, levels=[0], colors="black", linewidths=1.3)
    area = 30 * way[1] / way[1].max()
    for label, colour in COLOURS.items():
        mine = y == label
        axes.scatter(*X[mine].T, s=area[mine] + 1, color=colour, label=f"class {label}")
    axes.plot(*z, "k*", markersize=11, markeredgecolor="white", label="a new point")
    wrong = np.mean(np.sign(voted[name]) != truth)
    axes.set_title(
        f"{name}: {np.count_nonzero(way[1])} points, {wrong:.1%} errors", fontsize=10
    )
    axes.set(aspect="equal", xticks=[], yticks=[])
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# What they say
# -------------
#
# All votes about the new point, :math:`a_i y_i s(x_i, x)`, by how far away the voters are, and
# above them what they say together. A nearest neighbour counts fully or not at all. A soft one
# counts the less the further it is; here the many blue points further away outvote the few
# orange ones nearby, and are wrong. The machine has dropped most of these: they are sure of
# their own neighbourhood without being asked about this one.

like = truth[np.linalg.norm(new - z, axis=1) < 0.1]
assert np.mean(like == 1) > 0.75  # so its label is most likely this one
distance = np.linalg.norm(X - z, axis=1)
figure, row = plt.subplots(1, 3, figsize=(11.4, 2.9), layout="constrained", sharex=True)
for axes, (name, (similarity, a, b)) in zip(row, ways.items(), strict=True):
    votes = similarity(z[None])[0] * a * y
    axes.axhline(0, color="#999999", linewidth=0.8)
    for label, colour in COLOURS.items():
        mine = (y == label) & (abs(votes) > 1e-3)
        axes.vlines(distance[mine], 0, votes[mine], colors=colour, linewidth=1.6)
    total = votes.sum() + b
    axes.set_title(f"{name}: {total:+.2f}", fontsize=10)
    axes.set(xlabel="distance", xlim=(0, 2), ylim=np.array([-1.1, 1.1]) * abs(votes).max())
row[0].set_ylabel("vote")
plt.show()

# %%
# How many are kept
# -----------------
#
# Where errors cost more, fewer points are kept. At the left end all are, with one weight: the
# soft neighbours again, up to the offset. At the right end the border goes round single points,
# and errors are more again.

costs = np.geomspace(0.01, 1000, 21)
models = [mc.SVC(C=C, kernel=k).fit(X, y) for C in costs]
kept = [len(model.support_) for model in models]
errors = [np.mean(model.predict(new) != truth) for model in models]
first = models[0].function_(new)
assert np.allclose(first / 0.01, soft)

figure, left = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
left.plot(costs, kept, "o-", color="#000000", markersize=3)
left.set(xscale="log", xlabel="$C$", ylabel="support vectors", ylim=(0, 105))
right = left.twinx()
right.plot(costs, errors, "s--", color="#0072b2", markersize=3)
right.set_ylabel("share of errors on new points", color="#0072b2")
plt.show()
