"""Machines: estimators in the manner of scikit-learn, for points of any domain."""

from mercer.machines.barycenter import NearestBarycenter
from mercer.machines.cca import KernelCCA
from mercer.machines.centerer import KernelCenterer
from mercer.machines.classifier import KernelClassifier, KernelLogisticRegression
from mercer.machines.kmeans import KernelKMeans
from mercer.machines.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.machines.pca import KernelPCA
from mercer.machines.perceptron import KernelPerceptron
from mercer.machines.regressor import KernelRegressor
from mercer.machines.ridge import KernelRidge
from mercer.machines.svm import SVC, NuSVC
from mercer.machines.svm_one_class import OneClassSVM
from mercer.machines.svm_regression import SVR, NuSVR

__all__ = [
    "SVC",
    "SVR",
    "KernelCCA",
    "KernelCenterer",
    "KernelClassifier",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRegressor",
    "KernelRidge",
    "NearestBarycenter",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
]
