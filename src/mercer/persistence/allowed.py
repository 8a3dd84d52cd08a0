"""What a model file may hold: nothing else is written, and nothing else is read.

A file names things by the words of this table, never by modules and classes: so a name that is
not here means nothing, whoever wrote the file.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from sklearn.base import BaseEstimator

from mercer import kernels, machines
from mercer.domains import (
    CategoryBatch,
    DenseBatch,
    ObjectBatch,
    RecordBatch,
    SetBatch,
    SparseBatch,
)
from mercer.domains.samples import Sample
from mercer.functions import Function
from mercer.gram import GramPlan
from mercer.gram.features import Approximation
from mercer.kernels import FeatureKernel, FunctionKernel, Kernel, Pullback, Weighted
from mercer.machines.cca import View
from mercer.machines.least_squares import Fitted
from mercer.machines.neighbors import NeighborsPlan
from mercer.machines.precomputed import Crossed, Places
from mercer.plan import Plan
from mercer.selection.labels import Labels
from mercer.selection.penalties import Path
from mercer.selection.svm_path import SVMPath
from mercer.solvers.band import Band
from mercer.solvers.choose import SolverPlan
from mercer.solvers.choose_eigen import EigenPlan
from mercer.solvers.perceptron import Operations, Update, Walk
from mercer.solvers.smo_solution import DualSolution
from mercer.solvers.solution import Solution
from mercer.solvers.spectral import Spectrum

DOORS = (FeatureKernel, FunctionKernel, Pullback, Weighted)
"""Kernels that hold code of the user."""

KERNELS: MappingProxyType[str, type[Kernel]] = MappingProxyType(
    {
        kind.word: kind
        for name in kernels.__all__
        if isinstance(kind := getattr(kernels, name), type)
        and issubclass(kind, Kernel)
        and hasattr(kind, "word")
        and kind not in DOORS
    }
)
"""Kernels without user code, by their words."""

VALUES: MappingProxyType[str, type[Any]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            Approximation,
            Band,
            CategoryBatch,
            Crossed,
            DenseBatch,
            DualSolution,
            EigenPlan,
            Fitted,
            Function,
            GramPlan,
            Labels,
            NeighborsPlan,
            ObjectBatch,
            Operations,
            Path,
            Places,
            Plan,
            RecordBatch,
            Sample,
            SetBatch,
            Solution,
            SolverPlan,
            SparseBatch,
            Spectrum,
            SVMPath,
            Update,
            Walk,
        )
    }
)
"""Dataclasses that fitted machines are made of."""

MACHINES: MappingProxyType[str, type[BaseEstimator]] = MappingProxyType(
    {
        name: found
        for name in machines.__all__
        if isinstance(found := getattr(machines, name), type)
        and issubclass(found, BaseEstimator)
    }
)
"""Every machine, by its name."""

PARTS: MappingProxyType[str, type[BaseEstimator]] = MappingProxyType({**MACHINES, "View": View})
"""The machines, and those that are parts of others."""
