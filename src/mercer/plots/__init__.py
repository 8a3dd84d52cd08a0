"""Pictures of kernels: displays in the manner of scikit-learn's. They need matplotlib."""

from mercer.plots.displays import DiscriminationDisplay, GramDisplay, SetDistanceDisplay

__all__ = ["DiscriminationDisplay", "GramDisplay", "SetDistanceDisplay"]
