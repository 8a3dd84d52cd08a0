"""The facts of a fit, as text and as plain data."""

from mercer.reports.facts import Facts, facts
from mercer.reports.scores import Score, score
from mercer.reports.summary import listed, summary
from mercer.reports.words import in_words

__all__ = ["Facts", "Score", "facts", "in_words", "listed", "score", "summary"]
