r"""
The sigmoid and the logistic loss
=================================

Logistic regression models the probability of a class by the sigmoid
:math:`\sigma(u) = 1 / (1 + e^{-u})` of :math:`u = y f(x)`. The loss is the negative logarithm
of it, :math:`\ell(u) = \ln(1 + e^{-u})`, with

.. math:: \ell'(u) = -\sigma(-u), \qquad \ell''(u) = \sigma(u)\, \sigma(-u) \ge 0.

Newton's method needs both: the first derivatives say what each point pulls, and the second ones
are the weights of a ridge regression. The loss is smooth and convex, so that is all it takes.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from mercer.problems import loss

u = np.linspace(-5, 5, 401)
logistic, one = loss("logistic"), np.ones_like(u)
value, slope, curvature = (
    getattr(logistic, name)(one, u) for name in ("value", "slope", "curvature")
)
sigmoid, turned = expit(u), expit(-u)

# The identities of the blackboard, and the derivatives against differences.
assert np.allclose(turned, 1 - sigmoid)
assert np.allclose(value, -np.log(sigmoid))
assert np.allclose(slope, -turned)
assert np.allclose(curvature, sigmoid * turned)
assert np.allclose(np.gradient(value, u)[1:-1], slope[1:-1], atol=1e-4)
assert np.allclose(np.gradient(slope, u)[1:-1], curvature[1:-1], atol=1e-4)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.4, 3.4), layout="constrained", sharex=True
)
left.plot(u, sigmoid, color="#0072B2", label=r"$\sigma(u)$")
left.plot(u, turned, "--", color="#D55E00", label=r"$\sigma(-u) = 1 - \sigma(u)$")
left.plot(
    u, sigmoid * turned, "-.", color="#009E73", label=r"$\sigma'(u) = \sigma(u)\sigma(-u)$"
)
left.set(xlabel="$u$", title="the sigmoid", ylim=(-0.05, 1.45))
right.plot(u, value, color="#0072B2", label=r"$\ell(u)$")
right.plot(u, slope, "--", color="#D55E00", label=r"$\ell'(u)$")
right.plot(u, curvature, "-.", color="#009E73", label=r"$\ell''(u)$")
right.axhline(0, color="#999999", linewidth=0.6, zorder=0)
right.set(xlabel="$u$", title="the logistic loss")
for axes in (left, right):
    axes.legend(frameon=False, fontsize=8)
plt.show()
