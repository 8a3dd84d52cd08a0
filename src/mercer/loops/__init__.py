"""The floor: compiled loops and the scheduler. Arrays and numbers in, arrays out."""

from mercer.loops import profiles
from mercer.loops.pairwise import (
    CHI2,
    DOT,
    MANHATTAN,
    MINIMUM,
    SQUARED,
    Pairwise,
    Profile,
    product_is_safe,
)
from mercer.loops.product import multiply
from mercer.loops.sparse import SparsePairwise, compressed
from mercer.loops.threads import available, run
from mercer.loops.tiles import (
    COLUMNS,
    ROWS,
    Applied,
    Blocks,
    Combined,
    Narrowed,
    Stored,
    Tiles,
    Workspace,
    dense,
    pieces,
    symmetric,
)
from mercer.loops.vector import roundings

__all__ = [
    "CHI2",
    "COLUMNS",
    "DOT",
    "MANHATTAN",
    "MINIMUM",
    "ROWS",
    "SQUARED",
    "Applied",
    "Blocks",
    "Combined",
    "Narrowed",
    "Pairwise",
    "Profile",
    "SparsePairwise",
    "Stored",
    "Tiles",
    "Workspace",
    "available",
    "compressed",
    "dense",
    "multiply",
    "pieces",
    "product_is_safe",
    "profiles",
    "roundings",
    "run",
    "symmetric",
]
