"""Pictures of kernels and machines: displays in the manner of scikit-learn's.

A display holds the numbers of one picture, and draws it on axes of your choice. They need
matplotlib.
"""

from mercer.plots.decisions import DecisionDisplay
from mercer.plots.displays import DiscriminationDisplay, GramDisplay, SetDistanceDisplay
from mercer.plots.fits import FitDisplay, PenaltyPathDisplay
from mercer.plots.losses import LossDisplay
from mercer.plots.spectra import ComponentsDisplay, SpectrumDisplay

__all__ = [
    "ComponentsDisplay",
    "DecisionDisplay",
    "DiscriminationDisplay",
    "FitDisplay",
    "GramDisplay",
    "LossDisplay",
    "PenaltyPathDisplay",
    "SetDistanceDisplay",
    "SpectrumDisplay",
]
