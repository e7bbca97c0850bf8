"""Readers of the original weight files of the paper's encoders; none of them runs what a file names."""

from __future__ import annotations


class WeightsError(ValueError):
    """A file of weights that is not what it should be: what was found, what was expected."""
