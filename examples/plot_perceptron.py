r"""
The kernel perceptron learns from its mistakes
==============================================

It goes round the data. Where :math:`y_i f(x_i) \le 0` it adds :math:`y_i K_{x_i}` to
:math:`f`, and elsewhere it does nothing. It stops after a round without a mistake, which comes
if some function of the space separates the data.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.plots import DecisionDisplay

chance = np.random.default_rng(0)
turn = np.linspace(0.3, 3.2, 60) * np.pi
arm = np.stack([turn * np.cos(turn), turn * np.sin(turn)], axis=1) / 3
X = np.concatenate([arm, -arm]) + 0.06 * chance.standard_normal((120, 2))
y = np.repeat([1, -1], 60)
order = chance.permutation(120)
X, y = X[order], y[order]

# %%
# Two spirals, after one pass, after three, and at the end. Circled points are those on which
# it made a mistake at some time, its support vectors; of the others nothing is kept.

k = mc.Gaussian(scale=1.0)
figure, row = plt.subplots(1, 3, figsize=(11.4, 3.2), layout="constrained", sharey=True)
for axes, passes in zip(row, (1, 3, 100), strict=True):
    model = mc.KernelPerceptron(k, passes=passes).fit(X, y)
    DecisionDisplay.from_estimator(model, X, y, ax=axes)
    wrong = (model.predict(X) != y).sum()
    done = "" if wrong else ", done"
    axes.set_title(
        f"{model.n_iter_} pass{'es'[: 2 * (model.n_iter_ > 1)]}: {wrong} wrong{done}"
    )
    axes.get_legend().remove()
assert model.mistakes_[-1] == 0
plt.show()

# %%
# How many mistakes it makes in all has a bound that does not depend on the dimension of the
# space (Novikoff): :math:`\max_i k(x_i, x_i) / \gamma^2`, where :math:`\gamma` is the largest
# margin of a function of norm one. The function at the end has a margin, and so gives a
# :math:`\gamma` that is at most the best, and a bound that is at least the true one.

f, signs = model.function_, np.where(y == model.classes_[1], 1, -1)
gamma = (signs * f(X)).min() / f.norm()
bound = k.diagonal(X).max() / gamma**2
mistakes = sum(model.mistakes_)
assert mistakes <= bound
print(f"mistakes in each pass: {model.mistakes_}; {mistakes} in all")
