r"""
Quantiles: a band without a model of the noise
==============================================

Under the pinball loss of order :math:`q` the best constant is the :math:`q`-quantile, and the
best function follows the quantile at each :math:`x`. Two of them make a band, which is wide
where the noise is, and need not be symmetric.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

chance = np.random.default_rng(0)
x = np.sort(chance.uniform(0, 6, size=300))
noise = chance.exponential(size=300) * (0.1 + 0.25 * x)  # skewed, and wider to the right
y = np.sin(x) + noise
X, line = x[:, None], np.linspace(0, 6, 201)

orders = (0.05, 0.25, 0.5, 0.75, 0.95)
models = {
    q: mc.KernelRegressor(mc.Gaussian(scale=1.5), f"pinball({q})", penalty=1e-3).fit(X, y)
    for q in orders
}
curves = {q: model.predict(line[:, None]) for q, model in models.items()}

# %%
# A share of :math:`q` of the targets lies below each curve, up to the few that it passes
# through, because the slope of the objective in the offset is zero.

for q, model in models.items():
    below = np.mean(y < model.predict(X))
    print(f"order {q:4}: {100 * below:5.1f} % of the targets are below")
    assert abs(below - q) < 0.03

figure, axes = plt.subplots(figsize=(6.8, 4.0), layout="constrained")
axes.fill_between(line, curves[0.05], curves[0.95], color="#BCD9EA", label="5 % to 95 %")
axes.fill_between(line, curves[0.25], curves[0.75], color="#7FB5D6", label="25 % to 75 %")
axes.plot(line, curves[0.5], color="#0072B2", label="median")
exact = np.sin(line) + np.log(2) * (0.1 + 0.25 * line)
axes.plot(line, exact, "--", color="#D55E00", linewidth=1, label="true median")
axes.plot(x, y, ".", color="#555555", markersize=3)
axes.set(xlabel="$x$", ylabel="$y$")
axes.legend(frameon=False, loc="upper left")
plt.show()
