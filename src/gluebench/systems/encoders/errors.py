"""What is wrong with an encoder."""

from __future__ import annotations


class EncoderError(ValueError):
    """An encoder that cannot be had, or gives what are no vectors: what was found, what was expected."""
