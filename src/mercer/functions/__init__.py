"""Elements of an RKHS, and the geometry of the feature space."""

from mercer.functions.batches import concatenate
from mercer.functions.embedding import embed, sample
from mercer.functions.expansion import Function, section
from mercer.functions.geometry import (
    angle,
    barycenter,
    center,
    distance_to_set,
    distance_to_span,
    gap,
)
from mercer.functions.means import hsic, mmd
from mercer.functions.preimage import Preimage, closest, has_preimage, preimage
from mercer.functions.spaces import Explicit, explicit
from mercer.functions.spectrum import MercerExpansion, mercer_expansion

__all__ = [
    "Explicit",
    "Function",
    "MercerExpansion",
    "Preimage",
    "angle",
    "barycenter",
    "center",
    "closest",
    "concatenate",
    "distance_to_set",
    "distance_to_span",
    "embed",
    "explicit",
    "gap",
    "has_preimage",
    "hsic",
    "mercer_expansion",
    "mmd",
    "preimage",
    "sample",
    "section",
]
