"""What is minimised: losses, and the regularised risk."""

from mercer.problems.losses import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
    loss,
)

__all__ = [
    "LOSSES",
    "Absolute",
    "EpsilonInsensitive",
    "Expectile",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Pinball",
    "Poisson",
    "Squared",
    "SquaredHinge",
    "loss",
]
