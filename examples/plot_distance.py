r"""
The distance that a Gaussian sees
=================================

In the feature space of a kernel, two points are at the distance

.. math:: d_k(x, y) = \sqrt{k(x, x) + k(y, y) - 2 k(x, y)}.

For a Gaussian of scale :math:`s` this is :math:`\sqrt{2 - 2 e^{-|x - y|^2 / 2 s^2}}`: almost
:math:`|x - y| / s` for near points, and never more than :math:`\sqrt 2`, for all points lie on
the unit sphere and none of their angles is obtuse.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

gap = np.linspace(0, 5, 251)[:, None]
scales = {0.5: "-", 1.0: "--", 2.0: "-."}
colours = ["#0072B2", "#D55E00", "#009E73"]

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (scale, style), colour in zip(scales.items(), colours, strict=True):
    distance = mc.Gaussian(scale).distance([[0.0]], gap)[0]
    assert np.allclose(distance**2, 2 - 2 * np.exp(-(gap[:, 0] ** 2) / (2 * scale**2)))
    axes.plot(gap[:, 0], distance, style, color=colour, label=f"$s = {scale:g}$")
axes.axhline(np.sqrt(2), color="#666666", linewidth=1, linestyle=":")
axes.annotate(
    r"$\sqrt{2}$: orthogonal",
    (0, np.sqrt(2)),
    xytext=(4, 4),
    textcoords="offset points",
    color="#666666",
)
axes.set(xlabel="$|x - y|$", ylabel="$d_k(x, y)$", xlim=(0, 5), ylim=(0, 1.6))
axes.legend(frameon=False, loc="lower right")
plt.show()
