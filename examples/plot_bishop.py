r"""
Basis functions, and the kernels they give
==========================================

A kernel may be built from features: :math:`k(x, x') = \sum_i \phi_i(x) \phi_i(x')`. Above,
three families of basis functions on :math:`[-1, 1]`: powers, Gaussians and sigmoids. Below, the
kernel that each family gives, as a function of :math:`x` for one fixed :math:`x'` (the cross).
After figure 6.1 of C. Bishop, *Pattern Recognition and Machine Learning*.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import mercer as mc

centres = np.linspace(-1, 1, 12)


# Each function takes a point, or a column of points, and gives the features of each.
def powers(x):
    return x ** np.arange(1, 12)


def bumps(x):
    return np.exp(-((x - centres) ** 2) / (2 * 0.2**2))


def steps(x):
    return expit((x - centres) / 0.1)


panels = [("powers", powers, -0.5), ("Gaussians", bumps, 0.0), ("sigmoids", steps, 0.0)]

# %%
# ``mercer.FeatureKernel`` makes a kernel of each, positive definite whatever the features.

x = np.linspace(-1, 1, 401)[:, None]
colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(centres)))

figure, rows = plt.subplots(2, 3, figsize=(8.4, 4.8), layout="constrained", sharex=True)
for (title, phi, fixed), above, below in zip(panels, *rows, strict=True):
    k = mc.FeatureKernel(phi)
    values = k(x, [[fixed]])[:, 0]
    assert np.allclose(values, phi(x) @ phi(np.array([fixed])))
    for column, colour in zip(phi(x).T, colours, strict=False):
        above.plot(x[:, 0], column, color=colour, linewidth=1)
    below.plot(x[:, 0], values, color="#0072B2")
    below.plot([fixed], [0], "x", color="#D55E00", markersize=8, markeredgewidth=2, zorder=3)
    below.axhline(0, color="#999999", linewidth=0.6, zorder=0)
    above.set_title(title)
    below.set_xlabel("$x$")
rows[0, 0].set_ylabel(r"$\phi_i(x)$")
rows[1, 0].set_ylabel("$k(x, x')$")
plt.show()
