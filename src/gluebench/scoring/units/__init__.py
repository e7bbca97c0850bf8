"""Systems' answers to one test file as independent units, and the exchange of two systems' answers."""

from gluebench.scoring.units.base import Units, units_of
from gluebench.scoring.units.exchange import Exchange

__all__ = ["Exchange", "Units", "units_of"]
