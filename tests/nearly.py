"""Equality of floating-point results up to rounding.

The order in which PyTorch, oneDNN and BLAS add up depends on the processor, the number of threads, the other
rows of the batch and the alignment of the arrays in memory, so the last bits of a result depend on them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

TRAINED = 1e-4
"""Largest difference between the weights of equal training runs.

The small models of the tests differ by at most 1.5e-6 between AVX-512, AVX2 and SSE4.1, and by 0.1 or more
between seeds.
"""
PREDICTED = 1e-5
"""Largest difference between equal predictions in float32 of values up to 5, whose rounding unit is 5e-7."""


def same_weights(one: Mapping[str, Any], other: Mapping[str, Any], *, atol: float = TRAINED) -> bool:
    """Return whether two state dicts have the same names, shapes and, up to rounding, values."""
    return one.keys() == other.keys() and all(
        values.shape == other[name].shape and values.allclose(other[name], rtol=0, atol=atol)
        for name, values in one.items()
    )


def nearly(values: Any, *, tolerance: float = PREDICTED) -> Any:
    """Return JSON values to compare with: floats, at any depth, match up to an absolute tolerance."""
    if isinstance(values, float):
        return pytest.approx(values, rel=0, abs=tolerance)
    if isinstance(values, Mapping):
        return {name: nearly(each, tolerance=tolerance) for name, each in values.items()}
    if isinstance(values, list | tuple):
        return [nearly(each, tolerance=tolerance) for each in values]
    return values


def same_columns(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether predictions for the same files are equal: labels exactly, numbers up to rounding."""
    if one.keys() != other.keys():
        return False
    for name, column in one.items():
        expected = other[name]
        if (column.labels, column.indices) != (expected.labels, expected.indices):
            return False
        values = expected.values if column.labels else nearly(list(expected.values))
        if (column.values if column.labels else list(column.values)) != values:
            return False
    return True
