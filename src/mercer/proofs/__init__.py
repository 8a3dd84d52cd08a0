"""Is it a kernel? Formulas, functions and matrices: proved, refuted, or honestly unknown."""

from mercer.proofs.certificates import Refutation
from mercer.proofs.formulas import FormulaKernel
from mercer.proofs.matrices import MatrixEvidence
from mercer.proofs.reading import Formula, read
from mercer.proofs.repair import Repaired, repair
from mercer.proofs.steps import FormulaProof
from mercer.proofs.verdicts import Verdict, prove

__all__ = [
    "Formula",
    "FormulaKernel",
    "FormulaProof",
    "MatrixEvidence",
    "Refutation",
    "Repaired",
    "Verdict",
    "prove",
    "read",
    "repair",
]
