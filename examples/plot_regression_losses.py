r"""
What an error costs: regression
===============================

The squared error is one way to count among many. It is sensitive to targets that are far off,
because its slope, the pull of a target on the function, grows without a bound. Any
convex loss gives a kernel method, by the representer theorem: ``KernelRegressor(loss=...)``.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc
from mercer.plots import LossDisplay

names = ["squared", "absolute", "huber", "epsilon_insensitive(0.5)"]
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
LossDisplay.from_losses(*names, ax=left)
left.set(ylim=(-0.2, 5), title="the losses")
LossDisplay.from_losses(*names, order=1, ax=right)
right.set(ylim=(-3, 3), title="their slopes: how hard a target pulls")
right.get_legend().remove()
plt.show()

# %%
# Two that count errors above and below differently. The best constant under the pinball loss
# is a quantile of the targets, and under the expectile loss a mean in which the targets above
# it weigh more.

LossDisplay.from_losses("pinball(0.9)", "pinball(0.5)", "expectile(0.9)", low=-2, high=2)
plt.ylim(-0.1, 2)
plt.show()

# %%
# Six targets of sixty are wrong. The squared error follows them; the others do not, or less.

chance = np.random.default_rng(0)
x = np.sort(chance.uniform(0, 6, size=60))
truth = np.sin(x)
y = truth + 0.1 * chance.standard_normal(60)
y[5::10] += 4
X, line = x[:, None], np.linspace(0, 6, 201)

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(x, y, ".", color="#777777", label="data")
axes.plot(line, np.sin(line), color="black", linewidth=0.8, label="truth")
styles = {"squared": "-", "huber(0.2)": "--", "absolute": "-."}
worst = {}
for (name, style), colour in zip(
    styles.items(), ["#0072B2", "#009E73", "#D55E00"], strict=True
):
    model = mc.KernelRegressor(mc.Gaussian(scale=1.0), name, penalty=1e-3).fit(X, y)
    values = model.predict(line[:, None])
    worst[name] = abs(values - np.sin(line)).max()
    axes.plot(line, values, style, color=colour, label=name)
axes.set(xlabel="$x$", ylabel="$y$")
axes.legend(frameon=False, ncols=2)
plt.show()
assert worst["absolute"] < 0.3 < worst["squared"]
