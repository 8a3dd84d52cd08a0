"""Machines in files: saved and loaded without pickle, so that a file cannot run code."""

from mercer.persistence.files import replacing
from mercer.persistence.store import FORMAT, Stored, load, read, save

__all__ = ["FORMAT", "Stored", "load", "read", "replacing", "save"]
