r"""
Why a function is no kernel
===========================

A function is no kernel when some points :math:`x_i` and weights :math:`w_i` have a negative sum
:math:`\sum_{ij} w_i w_j k(x_i, x_j)`. ``mercer.prove`` finds such points, as few as it can, and
verifies the sign of the sum in exact or interval arithmetic.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

COLOURS = {True: "#0072B2", False: "#D55E00"}


def draw(axes, points, weights):
    """A disc a point: its area is the weight, blue for positive and orange for negative."""
    size = np.abs(weights) / np.abs(weights).max()
    colour = [COLOURS[bool(weight > 0)] for weight in weights]
    axes.scatter(*points.T, s=220 * size + 6, c=colour, edgecolors="white", zorder=3)


def numbers(refutation):
    """The points and the weights as arrays."""
    points = np.array(refutation.points, dtype=float)
    return points, np.array(refutation.weights, dtype=float)


# %%
# A cone in the plane
# -------------------
#
# On the line the triangle :math:`(1 - |x - y|)_+` is a kernel. Turned round to a cone in the
# plane it is none: :math:`(1 - r)_+^l` needs :math:`l \ge (d + 1) / 2` in dimension :math:`d`
# (Askey).

assert mc.prove("max(0, 1 - abs(x - y))").status == "pd"
assert mc.prove("max(0, 1 - norm(x - y))**1.5", domain="vectors(2)").status == "pd"

refutation = mc.prove("max(0, 1 - norm(x - y))", domain="vectors(2)").refutation
refutation.check()
points, weights = numbers(refutation)

# %%
# The weights alternate as on a chessboard, and so hold the frequencies (dashed) at which the
# Fourier transform of the cone is negative. The sum over the points is an integral over the
# frequencies, of one times the other.

frequency = np.linspace(0.01, 12, 400)
radius = (np.arange(2000) + 0.5) / 2000
wave = np.cos(frequency[:, None, None] * radius[:, None] * np.cos(np.linspace(0, np.pi, 181)))
transform = 2 * np.pi * (wave.mean(axis=2) * (1 - radius) * radius).mean(axis=1)
assert transform.min() < 0

angle = np.linspace(0, np.pi, 90, endpoint=False)
along = points @ np.stack([np.cos(angle), np.sin(angle)])
spectrum = np.exp(1j * frequency[:, None, None] * along.T) @ weights
held = (abs(spectrum) ** 2).mean(axis=1)

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained")
draw(left, points, weights)
left.set(
    aspect="equal", xlabel="$x_1$", ylabel="$x_2$", title=f"{len(points)} points refute it"
)
left.margins(0.12)
right.axhline(0, color="#999999", linewidth=0.8)
right.plot(frequency, transform, color="#666666")
right.fill_between(frequency, transform, where=transform < 0, color=COLOURS[False], alpha=0.6)
right.plot(frequency, 0.18 * held / held.max(), "--", color=COLOURS[True], linewidth=1)
right.set(xlabel="frequency", ylim=(-0.05, 0.2), xlim=(0, 12), title="transform of the cone")
plt.show()

# %%
# Just beyond the Gaussian
# ------------------------
#
# :math:`e^{-|x - y|^q}` is a kernel for :math:`0 < q \le 2`, and for no larger :math:`q`. The
# nearer to 2, the more points it takes. Their weights change signs from point to point, as in a
# difference quotient of high order.

figure, row = plt.subplots(1, 3, figsize=(8.4, 2.6), layout="constrained")
for axes, power in zip(row, ("3", "2.1", "2.0001"), strict=True):
    refutation = mc.prove(f"exp(-abs(x - y)**{power})").refutation
    x, w = numbers(refutation)
    w = w[np.argsort(x)] / np.abs(w).max()
    x = np.sort(x)
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.vlines(x, 0, w, colors=[COLOURS[bool(weight > 0)] for weight in w], linewidth=3)
    axes.set(title=f"$q = {power}$: {len(x)} points", xlabel="$x$", ylim=(-1.1, 1.1))
row[0].set_ylabel("weight")
plt.show()
