"""What a point is. Raw data are checked and encoded once, and only batches travel on."""

from mercer.domains.base import Batch, Distinct, Domain, distinct
from mercer.domains.categories import Categories, CategoryBatch
from mercer.domains.coordinates import DenseBatch, SparseBatch, same_names, same_width
from mercer.domains.incomplete import Incomplete
from mercer.domains.numbers import (
    NATURALS,
    NONNEGATIVE,
    POSITIVE,
    REALS,
    Numbers,
    interval,
)
from mercer.domains.objects import Anything, ObjectBatch, same_columns
from mercer.domains.records import Positions, RecordBatch, Records, of_one_kind, recoded
from mercer.domains.sets import SetBatch, Sets, align
from mercer.domains.vectors import Vectors

__all__ = [
    "NATURALS",
    "NONNEGATIVE",
    "POSITIVE",
    "REALS",
    "Anything",
    "Batch",
    "Categories",
    "CategoryBatch",
    "DenseBatch",
    "Distinct",
    "Domain",
    "Incomplete",
    "Numbers",
    "ObjectBatch",
    "Positions",
    "RecordBatch",
    "Records",
    "SetBatch",
    "Sets",
    "SparseBatch",
    "Vectors",
    "align",
    "distinct",
    "interval",
    "of_one_kind",
    "recoded",
    "same_columns",
    "same_names",
    "same_width",
]
