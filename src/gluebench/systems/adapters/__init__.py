"""Any model as a system: what MODEL of `gluebench run` may name, and the runs that it makes."""

from gluebench.systems.adapters.errors import ModelError

__all__ = ["ModelError"]
