"""Choosing what is not given: penalties, costs, lengths and kernels."""

from mercer.selection.svm_path import SVMPath, one_class_path, svm_path, svr_path

__all__ = ["SVMPath", "one_class_path", "svm_path", "svr_path"]
