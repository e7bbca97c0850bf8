"""Reading errors: examples with what systems answered, chosen, counted and set as a page of their own."""

from gluebench.analysis.errors.cases import Case, CaseFile, read_cases
from gluebench.analysis.errors.rates import Rate, rates
from gluebench.analysis.errors.wanted import Wanted

__all__ = ["Case", "CaseFile", "Rate", "Wanted", "rates", "read_cases"]
