r"""
A Gram matrix of records
========================

Flowers with measurements and a name. One kernel reads two of the measurements, another the
name; their sum counts each for itself, their product asks for both.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import mercer as mc
from mercer.plots import GramDisplay

data = load_iris()
columns = (name.removesuffix(" (cm)") for name in data.feature_names)
table = dict(zip(columns, data.data.T, strict=True))
table["name"] = data.target_names[data.target]

size = mc.Gaussian(scale=1.0).on("petal length", "petal width")
name = mc.Delta().on("name")

# %%
# Rows are in the order of the names, so groups are blocks. In the first matrix two of the three
# species look alike. The direct sum raises the blocks of equal names, and the tensor product
# erases everything else.

kernels = {"measurements": size, "direct sum": size + name, "tensor product": size * name}

figure, row = plt.subplots(1, 3, figsize=(10.2, 3.4), layout="constrained")
for axes, (title, k) in zip(row, kernels.items(), strict=True):
    display = GramDisplay.from_kernel(k, table, labels=table["name"], ax=axes)
    axes.set_title(title)
    assert np.linalg.eigvalsh(display.matrix)[0] > -1e-10
plt.show()

# %%
# Each says why it is a kernel.

kernels["tensor product"].proof().check()
print(kernels["tensor product"].proof())
