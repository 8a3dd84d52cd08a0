"""From a problem to its solution: numbers, and the evidence that they solve it."""
