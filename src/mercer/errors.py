"""Every deliberate error: it says what is wrong, why, and what to do.

Each is also the built-in error that scikit-learn and NumPy users already catch, so
`except ValueError` keeps working.
"""

from typing import Any


class MercerError(Exception):
    """The family of all errors that mercer raises on purpose."""


class InvalidInput(MercerError, ValueError):
    """The data are not points of the domain: NaN, wrong width, empty, out of range."""


class InvalidType(MercerError, TypeError):
    """The data or the argument are of a kind that cannot be read here."""


class InvalidParameter(MercerError, ValueError):
    """A parameter is outside the values for which the object means something."""


class NotAKernel(InvalidParameter):
    """What was asked for is not positive definite, so it cannot be built."""


class DomainMismatch(InvalidInput):
    """Two things that live on different domains, or in different spaces, were combined."""


class NoFeatureMap(MercerError, ValueError):
    """The kernel has no finite explicit feature map."""


class NotSmooth(MercerError, ValueError):
    """The kernel has no gradient where one was asked for."""


class NotPositiveDefinite(MercerError, ValueError):
    """A matrix that should be positive definite is not, numerically or structurally."""


class NotConverged(MercerError, ValueError):
    """An iterative method ended before it was as exact as was asked."""


class InvalidProof(MercerError, ValueError):
    """A proof has a step that does not follow."""


class NoTextForm(MercerError, ValueError):
    """The kernel holds user code, or text does not describe a kernel."""


class BudgetExceeded(MercerError, MemoryError, ValueError):
    """The work asked for needs more memory than the plan allows."""


class MissingExtra(MercerError, ImportError):
    """An optional dependency is needed and is not installed."""


class InvalidFormula(MercerError, ValueError):
    """A formula cannot be read, or means nothing on its domain."""


class InvalidFile(MercerError, ValueError):
    """A file cannot be read or written, is not what was asked for, or cannot be trusted."""


class NotSeparable(MercerError, ValueError):
    """No hyperplane of the feature space separates two classes.

    Attributes:
        certificate: A weight >= 0 a row, which sum to 1 in each class: the two barycentres
            with these weights coincide.
        distance: How far they are apart, to the tolerance that the message states.
    """

    def __init__(self, message: str, certificate: Any = None, distance: float = 0.0) -> None:
        super().__init__(message)
        self.certificate, self.distance = certificate, distance
