"""The families of MNLI-like meanings."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sample.amounts import bounds, nested, quantities
from sample.deeds import deeds, two_deeds
from sample.logic import Draft
from sample.relations import orders, roles
from sample.style import Style

Family = Callable[[Random, Style, int], Draft]
"""Draws a draft with this many clauses."""
FAMILIES: tuple[Family, ...] = (deeds, two_deeds, roles, orders, bounds, quantities, nested)
