"""Readers of the original weight files of the paper's encoders; none of them runs what a file names."""

from gluebench.systems.weights.errors import WeightsError

__all__ = ["WeightsError"]
