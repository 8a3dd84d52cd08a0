r"""
Mercer's expansion of the minimum
=================================

On :math:`[0, 1]` the kernel :math:`\min(x, y)`, the covariance of Brownian motion, is the sum
:math:`\sum_j \lambda_j \varphi_j(x) \varphi_j(y)` with

.. math::

    \lambda_j = \frac{1}{((j - 1/2) \pi)^2}, \qquad
    \varphi_j(x) = \sqrt 2 \sin((j - 1/2) \pi x).
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

k = mc.Min()
expansion = mc.mercer_expansion(k, interval=(0, 1), terms=32)
frequency = (np.arange(1, 33) - 0.5) * np.pi
assert np.allclose(expansion.eigenvalues, frequency**-2)

# %%
# Left, the first eigenfunctions. Right, a section of the kernel, :math:`\min(x, 0.6)`, and what
# the first 1, 3 and 32 terms make of it: the kink needs many.

x = np.linspace(0, 1, 301)
values = expansion.eigenfunctions(x)
assert np.allclose(values, np.sqrt(2) * np.sin(np.outer(x, frequency)), atol=1e-4)
colours = ["#0072B2", "#D55E00", "#009E73"]

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
for j, (colour, style) in enumerate(zip(colours, ["-", "--", "-."], strict=True)):
    left.plot(x, values[:, j], style, color=colour, label=rf"$\varphi_{j + 1}$")
left.set(xlabel="$x$", ylim=(-1.5, 2.4), title="eigenfunctions")
left.legend(frameon=False, ncols=3, loc="upper center")

features, at = expansion.features(x), expansion.features([0.6])[0]
for terms, colour, style in zip((1, 3, 32), colours, [":", "--", "-."], strict=True):
    part = features[:, :terms] @ at[:terms]
    right.plot(x, part, style, color=colour, label=f"{terms} terms" if terms > 1 else "1 term")
right.plot(
    x, k(x, [0.6])[:, 0], color="#666666", linewidth=1, label=r"$\min(x, 0.6)$", zorder=0
)
right.set(xlabel="$x$", title="the sum of the first terms")
right.legend(frameon=False, loc="upper left")
plt.show()

# %%
# The same expansion draws random functions: independent normal numbers, times
# :math:`\sqrt{\lambda_j}`, on the eigenfunctions (Karhunen and Loève). ``mercer.sample`` draws
# them on the points themselves, with nothing cut off: they are paths of Brownian motion.

chance = np.random.default_rng(1)
smooth = features @ chance.standard_normal((32, 4))
rough = mc.sample(k, x, draws=4, random_state=1).T

figure, row = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained", sharey=True)
for axes, paths, title in zip(row, (smooth, rough), ("32 terms", "all terms"), strict=True):
    for path, colour in zip(paths.T, [*colours, "#CC79A7"], strict=True):
        axes.plot(x, path, color=colour, linewidth=1)
    axes.set(xlabel="$x$", title=title)
plt.show()
