r"""
What a mistake costs: classification
====================================

For classes :math:`y = \pm 1` a loss is a function of the margin :math:`y f(x)`, positive where
the sign of :math:`f` is right. The loss that one means counts mistakes: 0 or 1. The
losses that one minimises are convex, and fall as the margin grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.plots import DecisionDisplay, LossDisplay

display = LossDisplay.from_losses("0/1", "logistic", "hinge", "squared_hinge", high=2.5)
display.ax_.set_ylim(-0.1, 4)
plt.show()

# %%
# Why nobody minimises mistakes plus a penalty
# --------------------------------------------
#
# It is hard, because the 0/1 loss is neither convex nor smooth; and there is nothing to find.
# The signs of :math:`f / 2` are those of :math:`f`, so the loss is the same, and the penalty is
# a quarter. Every :math:`f` other than zero is beaten by its half. Zero itself decides nothing:
# it is wrong on every point, if a value of 0 counts as a mistake, and beaten by any
# :math:`c f` that is right somewhere, for a small :math:`c`. So no function is the best. (If a
# value of 0 were right, as in a loss of 1 for :math:`y f(x) < 0` alone, zero would win.)

chance = np.random.default_rng(0)
X = chance.standard_normal((80, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.1 * chance.standard_normal(80) > 0, 1, -1)
model = mc.KernelLogisticRegression(mc.Gaussian(scale=1.0), 1e-3, fit_intercept=False)
f = model.fit(X, y).function_

penalty = 1e-3
shares = 2.0 ** np.arange(2, -8, -1)
mistakes = [np.mean(y * (share * f)(X) <= 0) for share in shares]
logistic = [np.mean(np.logaddexp(0, -y * (share * f)(X))) for share in shares]
price = [penalty * (share * f).norm() ** 2 for share in shares]
assert len(set(mistakes)) == 1  # the loss does not see the scale
assert (np.diff(price) < 0).all()  # and the penalty does: no function is the best

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.plot(shares, np.add(mistakes, price), "o-", color="#000000", label="0/1 loss + penalty")
axes.plot(shares, mistakes, ":", color="#000000", label="0/1 loss alone")
axes.plot(shares, np.add(logistic, price), "s--", color="#0072B2", label="logistic + penalty")
axes.set(xscale="log", xlabel="$c$", ylabel="objective at $c f$", ylim=(0, None))
axes.legend(frameon=False)
plt.show()

# %%
# With the 0/1 loss the objective falls as long as :math:`c` does; with the logistic loss
# it has its minimum at :math:`c = 1`, which is the function that was learned.

assert shares[np.argmin(np.add(logistic, price))] == 1
assert np.argmin(np.add(mistakes, price)) == len(shares) - 1

# %%
# Which points matter
# -------------------
#
# The logistic loss has a slope everywhere: every point has a coefficient. That of the hinge
# loss is zero beyond the margin, so points there have none, and what is left are the support
# vectors. Dashed lines are where :math:`f(x) + b = \pm 1`, or a probability is a quarter or
# three quarters.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
for axes, machine in (
    (left, mc.KernelLogisticRegression(mc.Gaussian(scale=1.0), 1e-3)),
    (right, mc.KernelClassifier(mc.Gaussian(scale=1.0), "hinge", 1e-3)),
):
    response = "predict_proba" if axes is left else "auto"
    shown = DecisionDisplay.from_estimator(machine.fit(X, y), X, y, response=response, ax=axes)
    print(f"{machine.__class__.__name__}: {len(shown.support)} support vectors are marked")
plt.show()

# %%
# More than two classes
# ---------------------
#
# The colour is the class that wins, the grey lines are its probability.

centres = np.array([[0.0, 0.0], [2.5, 0.5], [1.0, 2.5]])
labels = np.repeat(["a", "b", "c"], 30)
points = np.repeat(centres, 30, axis=0) + 0.8 * chance.standard_normal((90, 2))
model = mc.KernelLogisticRegression(mc.Gaussian(scale=1.5)).fit(points, labels)
DecisionDisplay.from_estimator(model, points, labels, response="predict_proba")
plt.show()
