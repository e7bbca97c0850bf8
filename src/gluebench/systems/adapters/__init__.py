"""Any model as a system: what MODEL of `gluebench run` may name, and the runs that it makes."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be had or used: what was found, what was expected, how to go on."""
