r"""
Two points become two functions
===============================

A kernel sends a point :math:`x` to a function, its *section* :math:`K_x = k(x, \cdot)`. For the
Gaussian these are bumps. The reproducing property makes their inner product a value of the
kernel, which is also the height of either bump above the other point:

.. math:: \langle K_x, K_y \rangle_H = K_x(y) = K_y(x) = k(x, y).
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"

k = mc.Gaussian(scale=1.0)
x, y = [-0.7], [1.0]
section_x, section_y = mc.section(k, x), mc.section(k, y)
inner = section_x @ section_y

assert np.isclose(inner, k.pair(x, y))
assert np.isclose(section_x.norm(), 1.0)  # every point lies on the unit sphere

# %%
# The dashed level is the inner product: each bump passes through it above the other point.

t = np.linspace(-4, 4, 401)[:, None]
figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
axes.axhline(inner, color=GREY, linestyle="--", linewidth=1, label=rf"$k(x, y) = {inner:.3f}$")
axes.plot(t[:, 0], section_x(t), color=BLUE, label="$K_x$")
axes.plot(t[:, 0], section_y(t), color=ORANGE, linestyle="-.", label="$K_y$")
axes.plot([x[0], y[0]], [inner, inner], "o", color=GREY)
axes.set_xticks([x[0], y[0]], ["$x$", "$y$"])
axes.set(xlabel="$t$", ylabel="value at $t$", ylim=(0, 1.08))
axes.legend(frameon=False, loc="upper left")
plt.show()
