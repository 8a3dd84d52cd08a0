"""Choosing what is not given: penalties, lengths and kernels."""
