"""The Gram matrix as an operator."""

from mercer.gram.choose import operator
from mercer.gram.operator import GramPlan, Operator

__all__ = ["GramPlan", "Operator", "operator"]
