r"""
Kernel ridge regression, from a large penalty to none
=====================================================

Ridge regression in the space of a kernel finds

.. math:: \hat f = \arg\min_f \frac1n \sum_i (y_i - f(x_i))^2 + \lambda \|f\|^2.

A large :math:`\lambda` leaves nothing but zero, a tiny one follows every point and its noise.
Between them lies the best, and leave-one-out finds it without new data.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.plots import FitDisplay, PenaltyPathDisplay

chance = np.random.default_rng(3)
x = np.sort(chance.uniform(0, 10, size=60))
truth = np.sin(x) * np.exp(-x / 8) + 0.25 * x
y = truth + 0.25 * chance.standard_normal(60)
X, k = x[:, None], mc.Gaussian(scale=0.7)

# %%
# Ten penalties, a factor of ten apart, without an offset as on the blackboard. The norm of the
# function grows from one to the next, and the error on the data falls: the penalty buys
# one with the other.

penalties = 10.0 ** np.arange(2, -8, -1)
line = np.linspace(0, 10, 301)
fits = [mc.KernelRidge(k, penalty, fit_intercept=False).fit(X, y) for penalty in penalties]
norms = [fit.function_.norm() for fit in fits]
errors = [np.mean((fit.predict(X) - y) ** 2) for fit in fits]
assert (np.diff(norms) > 0).all()
assert (np.diff(errors) < 0).all()

figure, rows = plt.subplots(
    2, 5, figsize=(10.2, 4.2), layout="constrained", sharex=True, sharey=True
)
for axes, penalty, fit in zip(rows.flat, penalties, fits, strict=True):
    axes.plot(x, y, ".", color="#777777", markersize=3)
    axes.plot(line, fit.predict(line[:, None]), color="#0072B2")
    power = round(np.log10(penalty))
    axes.set_title(
        rf"$\lambda = 10^{{{power}}}$" if abs(power) > 1 else f"$\\lambda = {penalty:g}$"
    )
    axes.set_ylim(-1, 3.6)
for axes in rows[-1]:
    axes.set_xlabel("$x$")
plt.show()

# %%
# Each row is predicted from all others, for every penalty, from one eigendecomposition. The
# error is least in the middle, and ``penalty="auto"`` takes that. To the left it waves, as the
# function swings past single rows, and never comes as low again.

model = mc.KernelRidge(k).fit(X, y)
display = PenaltyPathDisplay.from_estimator(model)
assert 1e-5 < model.penalty_ < 1e-1
plt.show()

# %%
# The function that it gives, with two bands around it. The left one is for new targets: the
# jackknife+ takes it from the same errors on rows left out. The right one is for the function
# alone, two standard deviations of a Gaussian process with this kernel. It widens where
# there are no data, and does not hold the noise of a target.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.4, 3.4), layout="constrained", sharex=True, sharey=True
)
FitDisplay.from_estimator(model, X, y, coverage=0.9, ax=left)
FitDisplay.from_estimator(model, X, y, band="std", ax=right)
for axes in (left, right):
    axes.plot(x, truth, ":", color="#D55E00", linewidth=1, label="truth")
    axes.legend(frameon=False, fontsize=8)
    axes.set_title("")
right.set_ylabel("")
plt.show()

# %%
# New targets from the same source fall into the interval about as often as it says.

fresh = chance.uniform(0, 10, size=2000)
targets = np.sin(fresh) * np.exp(-fresh / 8) + 0.25 * fresh
targets += 0.25 * chance.standard_normal(2000)
ends = model.predict_interval(fresh[:, None], coverage=0.9)
share = np.mean((ends[:, 0] <= targets) & (targets <= ends[:, 1]))
print(f"{100 * share:.0f} % of 2000 new targets lie in their interval of 90 %")
assert share > 0.8
