"""Readers of the original weight files of the paper's encoders; none of them runs what a file names."""

from __future__ import annotations


class WeightsError(ValueError):
    """A file of weights that cannot be read. The message says what it holds and what was expected."""
