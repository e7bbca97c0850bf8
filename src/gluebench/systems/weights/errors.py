"""What is wrong with a file of weights."""

from __future__ import annotations


class WeightsError(ValueError):
    """A file of weights that is not what it should be: what was found, what was expected."""
