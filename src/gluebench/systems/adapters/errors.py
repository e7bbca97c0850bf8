"""What is wrong with a model that was named."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be had or used: what was found, what was expected, how to go on."""
