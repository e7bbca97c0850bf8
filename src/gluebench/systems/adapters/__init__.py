"""Any model as a system: what MODEL of `gluebench run` may name, and the runs that it makes."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be loaded or used. The message says why, what was expected and what to do."""
